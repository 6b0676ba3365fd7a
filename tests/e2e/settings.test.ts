import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Checkout } from "../support/checkout.ts";
import { letGo, makeSlowCheckout } from "../support/slowProgram.ts";

const SECRET = "lakekeeper:sqlCatalog";
/** What make would expand, and a shell would split. */
const VALUE = `postgresql://reader:a$b$$(c)"d' e@host/catalog`;

let checkout: Checkout;

beforeAll(async () => {
  checkout = await makeSlowCheckout();
  letGo(checkout);
});

afterAll(async () => {
  await checkout.remove();
});

/** `tools/pulumi` as a person in another folder types it. */
async function pulumi(...args: string[]): Promise<string> {
  return pulumiOn({}, ...args);
}

async function pulumiOn(variables: Record<string, string>, ...args: string[]): Promise<string> {
  const environment = { ...process.env, ...variables };
  const options = { cwd: tmpdir(), env: environment };
  return (await promisify(execFile)(join(checkout.directory, "tools/pulumi"), args, options)).stdout;
}

const tracked = (): Promise<string> => checkout.read("Pulumi.local.yaml");

test("a secret is set as it was typed, and neither it nor its salt comes into the tracked file", async () => {
  const before = await tracked();
  await pulumi("config", "set", "--secret", SECRET, VALUE);
  expect(await pulumi("config", "get", SECRET)).toBe(`${VALUE}\n`);
  expect(await tracked()).toBe(before);
  const copy = await checkout.read(".state/pulumi/project/Pulumi.local.yaml");
  expect(copy).toMatch(/secure: v1:/);
  expect(copy).not.toContain("reader");
}, 600_000);

test("a plain setting comes into the tracked file, with nothing else", async () => {
  const before = await tracked();
  await pulumi("config", "set", "lakekeeper:cutover", "sql");
  expect(await tracked()).toBe(`${before}  lakekeeper:cutover: sql\n`);
  await pulumi("config", "rm", "lakekeeper:cutover");
  expect(await tracked()).toBe(before);
}, 600_000);

test("secrets outlive clean, and up works after it", async () => {
  await checkout.mustMake("up");
  await checkout.mustMake("down");
  const { output } = await checkout.mustMake("clean", { FORCE: "1" });
  expect(output).toContain("Kept: your encrypted settings in .state/pulumi");
  await checkout.linkPackages();
  await checkout.mustMake("up");
  expect(await pulumi("config", "get", SECRET)).toBe(`${VALUE}\n`);
}, 600_000);

test("a secret can be replaced by a plain setting, and be taken away", async () => {
  const before = await tracked();
  await pulumi("config", "set", SECRET, "sqlite:////catalog.db");
  expect(await tracked()).toBe(`${before}  ${SECRET}: sqlite:////catalog.db\n`);
  await pulumi("config", "set", "--secret", SECRET, VALUE);
  expect(await tracked()).toBe(before);
  await pulumi("config", "rm", SECRET);
  expect(await tracked()).toBe(before);
  expect(await checkout.read(".state/pulumi/project/Pulumi.local.yaml")).not.toContain("sqlCatalog");
}, 600_000);

test("an emulated stack has secrets of its own, and the real one's stay as they are", async () => {
  const file = join(checkout.directory, "Pulumi.dev.yaml");
  const real = `secretsprovider: awskms://key\nencryptedkey: AAAA\nconfig:\n  ${SECRET}:\n    secure: AAABBB\n  lakekeeper:platform: local\n`;
  await writeFile(file, real);
  const emulated = { STACK: "dev", EMULATED: "1" };
  await pulumiOn(emulated, "config", "set", "--secret", SECRET, VALUE);
  expect(await pulumiOn(emulated, "config", "get", SECRET)).toBe(`${VALUE}\n`);
  await checkout.mustMake("preview", emulated);
  expect(await readFile(file, "utf8")).toBe(real);

  await expect(pulumiOn(emulated, "config", "set", SECRET, "sqlite:////x")).rejects.toThrow(
    /is encrypted in Pulumi\.dev/,
  );
  expect(await readFile(file, "utf8")).toBe(real);
  await pulumiOn(emulated, "config", "set", "lakekeeper:cutover", "sql");
  const changed = await readFile(file, "utf8");
  expect(changed).toContain("    secure: AAABBB\n");
  expect(changed).toContain("  lakekeeper:cutover: sql\n");
  expect(changed).toContain("secretsprovider: awskms://key\nencryptedkey: AAAA\n");
}, 600_000);

test("a stack without a file of settings is a mistyped one: nothing is made for it", async () => {
  for (const target of ["up", "preview", "config", "down"]) {
    const { code, output } = await checkout.make(target, { STACK: "devv", EMULATED: "1" });
    expect(code).not.toBe(0);
    expect(output).toContain('error: STACK is "devv", and there is no Pulumi.devv.yaml with its settings');
  }
  expect(existsSync(join(checkout.directory, ".state/devv"))).toBe(false);
}, 600_000);

test("encrypted settings in the tracked file of the local stack are refused with the remedy", async () => {
  await writeFile(join(checkout.directory, "Pulumi.local.yaml"), `config:\n  ${SECRET}:\n    secure: v1:AAA\n`);
  const { code, output } = await checkout.make("preview");
  expect(code).not.toBe(0);
  expect(output).toMatch(/error: Pulumi\.local\.yaml holds encrypted settings.*config set --secret/);
}, 600_000);
