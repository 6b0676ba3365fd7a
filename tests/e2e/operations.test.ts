import { readFileSync } from "node:fs";
import { run } from "../../tools/run.ts";
import { type Checkout, makeCheckout, resourceCounts } from "../support/checkout.ts";

// What docs/operations.md tells a person to type, typed.

let checkout: Checkout;

beforeAll(async () => {
  checkout = await makeCheckout();
  await checkout.mustMake("up");
}, 600_000);

afterAll(async () => {
  await checkout.mustMake("down");
  await checkout.remove();
}, 600_000);

/** The shell commands below a sentence of the page; the engine is told not to ask. */
function commandsBelow(sentence: string): string {
  const page = readFileSync("docs/operations.md", "utf8");
  const [, commands] = /```sh\n(.*?)```/s.exec(page.slice(page.indexOf(sentence))) ?? [];
  return commands!.replace(/^(tools\/pulumi up .*)$/m, "$1 --yes");
}

const shell = (commands: string): Promise<string> => run("sh", ["-ec", commands], { cwd: checkout.directory });

/** The ml-runner's token, as a function that gives the status with which the catalog answers it. */
async function readerToken(): Promise<() => Promise<number>> {
  const outputs = await checkout.outputs();
  const [uri, token] = [outputs["LAKEHOUSE_REST_URI"], outputs["LAKEHOUSE_CATALOG_TOKEN"]].map(String);
  return async () => {
    const answer = await fetch(`${uri}/v1/config?warehouse=lakehouse`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await answer.body?.cancel();
    return answer.status;
  };
}

test("every token is void after the steps for that, and the new ones are accepted", async () => {
  const old = await readerToken();
  expect(await old()).toBe(200);
  await shell(commandsBelow("To void every token at once"));
  expect(await old()).toBe(401);
  expect(await (await readerToken())()).toBe(200);
  expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
}, 600_000);

test("a process that the engine is told to replace runs afterwards", async () => {
  await checkout.engine("up", "--yes", "--skip-preview", "--replace", "**::lakekeeper-serve");
  expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
  expect(Object.keys(resourceCounts((await checkout.mustMake("up")).output))).toEqual(["unchanged"]);
}, 600_000);

test("a bootstrap that is taken out of the state with what depends on it is found again", async () => {
  const urns = await checkout.engine("stack", "--show-urns");
  const [urn] = /urn:\S+::access-bootstrap$/m.exec(urns) ?? [];
  await checkout.engine("state", "delete", "--target-dependents", urn!, "--yes");
  const { output } = await checkout.mustMake("up");
  expect(resourceCounts(output)).toMatchObject({ created: 5 });
  expect(output).not.toContain("FAILED");
}, 600_000);
