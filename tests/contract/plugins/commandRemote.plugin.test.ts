import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { commandPlugin } from "../../../emulators/plugins/command/plugin.ts";
import { reveal, secret, type Properties } from "../../../emulators/plugins/protocol.ts";
import { makeScratch, type Scratch } from "../../support/scratch.ts";
import { newKey, startSshServer, type SshServer } from "./sshServer.ts";

// Commands and files on another machine, of the stand-in for Pulumi's command plugin, in this project's own words.

let scratch: Scratch;
let server: SshServer;
let said: string[];

const plugin = commandPlugin({
  version: "1.2.1",
  log: async (severity, line) => void said.push(`${severity}: ${line}`),
});
const named = (type: string) => ({ urn: `urn:pulumi:dev::p::${type}::far`, name: "far", type });
const job = named("command:remote:Command");
const file = named("command:remote:CopyToRemote");

beforeAll(async () => {
  scratch = await makeScratch();
  server = await startSshServer();
});
afterAll(async () => {
  await server.close();
  await scratch.remove();
});
beforeEach(() => {
  said = [];
});

/** The inputs as the engine hands them on: with what Check has filled in. */
async function checked(of: typeof job, inputs: Properties, more: Properties = {}): Promise<Properties> {
  const connection = { host: "127.0.0.1", port: server.port, privateKey: server.clientKey, dialErrorLimit: 0, ...more };
  const news = { ...inputs, connection };
  const { inputs: filled, failures } = await plugin.check({ ...of, olds: {}, news });
  expect(failures).toBeUndefined();
  return filled;
}

const text = (content: string) => ({
  "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17",
  hash: content,
  text: content,
});

test("a connection is a secret with the usual user and port, and is looked at in the preview", async () => {
  const { connection } = (await plugin.check({ ...job, olds: {}, news: { connection: { host: "h" } } })).inputs;
  expect(connection).toEqual(secret(reveal(connection)));
  expect(reveal(connection)).toEqual({ host: "h", user: "root", port: 22, dialErrorLimit: 10, perDialTimeout: 15 });
  const { failures } = await plugin.check({ ...job, olds: {}, news: { connection: { port: "22", hots: "h" } } });
  expect(failures?.[0]?.reason).toBe(
    "An error occurred decoding 'CommandInputs.connection': 3 failures decoding:\n\thost: Missing required field 'host' on " +
      "'remote.Connection'\n\tport: Field 'port' on 'remote.Connection' must be a 'float64'; got 'string' instead\n\thots: " +
      "Unrecognized field 'hots' on 'remote.Connection'",
  );
});

test("a command runs there, and is told what was put out before only where the server takes that", async () => {
  const properties = await checked(job, { create: "echo out; echo err >&2; cat", stdin: "in" });
  const made = (await plugin.create({ ...job, properties })).properties;
  expect(made).toMatchObject({ stdout: "out\nin", stderr: "err" });
  const news = await checked(job, { create: "echo [$PULUMI_COMMAND_STDOUT]$OKVAR", environment: { OKVAR: "!" } });
  const { properties: changed } = await plugin.update({ ...job, id: "far1", olds: made, news });
  expect(changed["stdout"]).toBe("[]!");
  expect(said.filter((line) => line.startsWith("warning"))).toEqual([
    expect.stringContaining("Unable to set 'PULUMI_COMMAND_STDOUT'"),
    expect.stringContaining("Unable to set 'PULUMI_COMMAND_STDERR'"),
  ]);
});

test.each<[string, Properties, Properties, string]>([
  [
    "a command that fails",
    { create: "echo so; exit 9" },
    {},
    'Process exited with status 9: running "echo so; exit 9":\nso\n',
  ],
  ["one that is killed", { create: "kill -9 $$" }, {}, "Process exited with status 137 from signal KILL: running"],
  [
    "a variable that is not taken",
    { create: "true", environment: { A: "1" } },
    {},
    'could not set environment variable "A": ssh: setenv failed',
  ],
  [
    "a key that is not known",
    { create: "true" },
    { privateKey: newKey().private },
    "after 0 failed attempts: ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey]",
  ],
  ["no key", { create: "true" }, { privateKey: "x" }, "ssh: no key found"],
  [
    "another host key than the one pinned",
    { create: "true" },
    { hostKey: newKey().public },
    "ssh: handshake failed: ssh: host key mismatch",
  ],
])("%s is told in Go's words", async (_what, inputs, connection, message) => {
  const properties = await checked(job, inputs, connection);
  await expect(plugin.create({ ...job, properties })).rejects.toThrow(message);
});

test("a text is put where it is wanted, anew only when it is another or goes elsewhere, and stays at the end", async () => {
  const remotePath = join(scratch.state, "made/for/it.txt");
  const olds = await checked(file, { source: text("one"), remotePath });
  const { properties } = await plugin.create({ ...file, properties: olds });
  expect(await readFile(remotePath, "utf8")).toBe("one");
  const unreachable = await checked(file, { source: text("one"), remotePath }, { port: 1 });
  await plugin.update({ ...file, id: "1", olds: properties, news: unreachable });
  await plugin.update({
    ...file,
    id: "1",
    olds: properties,
    news: await checked(file, { source: text("two"), remotePath }),
  });
  await plugin.delete({ ...file, id: "1", properties });
  expect(await readFile(remotePath, "utf8")).toBe("two");
  const folder = await checked(file, { source: text("x"), remotePath: scratch.state });
  await expect(plugin.create({ ...file, properties: folder })).rejects.toThrow(
    "is a directory; when using a text asset",
  );
});
