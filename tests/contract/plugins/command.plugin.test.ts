import { commandPlugin } from "../../../emulators/plugins/command/plugin.ts";
import { secret, type Properties } from "../../../emulators/plugins/protocol.ts";

// Commands of the stand-in for Pulumi's command plugin, in this project's own words.

const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const of = { urn: "urn:pulumi:dev::p::command:local:Command::job", name: "job", type: "command:local:Command" };

let said: string[];
const plugin = commandPlugin({
  version: "1.2.1",
  log: async (severity, line) => void said.push(`${severity}: ${line}`),
});

beforeEach(() => {
  said = [];
});

const create = (properties: Properties) => plugin.create({ ...of, properties });
const update = (olds: Properties, news: Properties) => plugin.update({ ...of, id: "job1", olds, news });
const diff = (olds: Properties, news: Properties) => plugin.diff({ ...of, id: "job1", olds, news });
const reasons = async (news: Properties, type = of.type) =>
  ((await plugin.check({ ...of, type, olds: {}, news })).failures ?? []).map(({ reason }) => reason);

test("a command is run once it is really made, and all but one line end of what it puts out is kept", async () => {
  const properties = { create: "printf 'a\\n\\n'; echo b >&2", environment: { A: "1" }, stdin: "x" };
  const planned = await plugin.create({ ...of, properties, preview: true });
  expect(planned.properties).toEqual({ ...properties, stdout: UNKNOWN, stderr: UNKNOWN });
  expect(said).toEqual([]);
  const { id, properties: made } = await create(properties);
  expect(id).toMatch(/^job[0-9a-f]{8}$/);
  expect(made).toEqual({ ...properties, stdout: "a\n", stderr: "b" });
  expect(said).toEqual(["info: a", "info: b"]);
});

test("what a secret command puts out is no secret", async () => {
  const { properties } = await create({ create: secret("echo hush") });
  expect(properties).toEqual({ create: secret("echo hush"), stdout: "hush", stderr: "" });
});

test("any changed input runs update, or create without one, which is told what was put out before", async () => {
  const made = (await create({ create: "echo one", delete: "true" })).properties;
  const news = { create: "echo was $PULUMI_COMMAND_STDOUT", delete: "false" };
  expect(await diff(made, news)).toMatchObject({ changes: "DIFF_SOME", diffs: ["create", "delete"] });
  expect((await update(made, news)).properties["stdout"]).toBe("was one");
  expect((await update(made, { ...news, update: "echo up" })).properties["stdout"]).toBe("up");
  expect((await update(made, { ...news, addPreviousOutputInEnv: false })).properties["stdout"]).toBe("was");
  expect(await diff(made, { create: secret("echo one"), delete: "true" })).toMatchObject({ changes: "DIFF_NONE" });
});

test("triggers replace a command only when they come or go", async () => {
  const state = { create: "true", triggers: [1, { a: 1 }], stdout: "", stderr: "" };
  expect(await diff(state, { create: "true" })).toMatchObject({ replaces: ["triggers"] });
  const changed = await diff(state, { create: "true", triggers: [1, { a: 2 }, 3] });
  expect(changed).not.toHaveProperty("replaces");
  expect(changed.detailedDiff).toEqual({ "triggers[1].a": { kind: "UPDATE" }, "triggers[2]": {} });
});

test("the text that a state has is run when it is deleted", async () => {
  const state = { create: "true", delete: "echo gone $PULUMI_COMMAND_STDOUT >&2; exit 3", stdout: "x", stderr: "" };
  await expect(plugin.delete({ ...of, id: "job1", properties: state })).rejects.toThrow(
    'exit status 3: running "echo gone $PULUMI_COMMAND_STDOUT >&2; exit 3":\ngone x\n',
  );
});

test.each([
  [{ create: "kill -9 $$" }, 'signal: killed: running "kill -9 $$":\n'],
  [
    { create: 'echo "q"\n', interpreter: ["no-such-program"] },
    'exec: "no-such-program": executable file not found in $PATH: running "echo \\"q\\"\\n":\n',
  ],
  [{ create: "true", interpreter: ["/no/such"] }, 'fork/exec /no/such: no such file or directory: running "true":\n'],
  [{ create: "true", dir: "/no/such" }, 'chdir /no/such: no such file or directory: running "true":\n'],
])("%j fails in Go's words", async (properties, message) => {
  await expect(create(properties)).rejects.toThrow(message);
});

test.each([
  [{ create: "true", bogus: 1 }, ["Unrecognized field 'bogus' on 'local.CommandInputs'"]],
  [{ create: true }, ["Field 'create' on 'local.CommandInputs' must be a 'string'; got 'bool' instead"]],
  [
    { environment: { A: secret(1) } },
    ["Field 'environment[A] value' on 'local.CommandInputs' must be a 'string'; got 'float64' instead"],
  ],
  [
    { assetPaths: ["x"] },
    ["The stand-in for Pulumi's command plugin does not take 'assetPaths' on 'local.CommandInputs'"],
  ],
  [{ create: UNKNOWN, triggers: [UNKNOWN], environment: { A: UNKNOWN } }, []],
])("the inputs %j are looked at in the preview", async (news, expected) => {
  expect(await reasons(news)).toEqual(expected);
});

test("what is no resource is refused", async () => {
  await expect(reasons({}, "command:local:Nope")).rejects.toThrow("Resource 'local:Nope' not found");
});

test("what was imported has put out nothing, so that it cannot be changed", async () => {
  expect(await plugin.read({ ...of, id: "job1" })).toEqual({ id: "job1", properties: {}, inputs: {} });
  await expect(update({}, { create: "true" })).rejects.toThrow(
    "2 failures decoding:\n\tstdout: Missing required field",
  );
});

test("a function runs in a preview too", async () => {
  const invoke = (args: Properties) => plugin.invoke({ tok: "command:local:run", args, preview: true });
  const args = { command: "cat", stdin: "in", logging: "none" };
  expect(await invoke(args)).toEqual({ return: { ...args, stdout: "in", stderr: "" } });
  expect(said).toEqual([]);
  expect((await invoke({})).failures).toEqual([
    { property: "command", reason: "Missing required field 'command' on 'local.RunInputs'" },
  ]);
});
