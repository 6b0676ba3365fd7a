import { join } from "node:path";
import { resourceCounts } from "../../support/checkout.ts";
import { makeProgram, type Program } from "../cloudflare/program.ts";

// The real engine with the stand-in for the command plugin on its PATH.

let program: Program;

beforeAll(async () => {
  program = await makeProgram(join(process.cwd(), "emulators/plugins/bin"), {});
}, 600_000);

afterAll(() => program.remove());

const source = (inputs: string): string => `
import { local } from "@pulumi/command";
const job = new local.Command("job", ${inputs});
export const { stdout } = job;
`;

test("a command runs once, again when it is another, and its delete text at the end", async () => {
  const inputs = (word: string): string => `{ create: "echo ${word}", delete: "echo bye >&2; false" }`;
  expect((await program.pulumi("up", source(inputs("one")))).code).toBe(0);
  expect(await program.outputs()).toEqual({ stdout: "one" });
  expect(Object.keys(resourceCounts((await program.pulumi("up")).output))).toEqual(["unchanged"]);
  expect((await program.pulumi("up", source(inputs("two")))).code).toBe(0);
  expect(await program.outputs()).toEqual({ stdout: "two" });
  const { code, output } = await program.pulumi("destroy");
  expect(code).not.toBe(0);
  expect(output).toContain('error: exit status 1: running "echo bye >&2; false":\nbye');
}, 600_000);

test("what the SDK's types do not have is refused before anything runs", async () => {
  const raw = `
import * as pulumi from "@pulumi/pulumi";
new pulumi.CustomResource("command:local:Command", "job", { create: "echo three", delete: "true", bogus: 1 }, { version: "1.2.1" });
`;
  const { code, output } = await program.pulumi("up", raw);
  expect(code).not.toBe(0);
  expect(output).toContain("Unrecognized field 'bogus' on 'local.CommandInputs'");
}, 600_000);
