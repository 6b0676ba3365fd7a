import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { commandPlugin } from "../../../emulators/plugins/command/plugin.ts";
import { secret, type Properties } from "../../../emulators/plugins/protocol.ts";
import { makeScratch, type Scratch } from "../../support/scratch.ts";
import { recordedSteps, recordingsPresent, type RecordedCall } from "./recording.ts";
import { answerOf, comparable, isAnswered, recordedAnswer } from "./replay.ts";
import { newKey, startSshServer, type SshServer } from "./sshServer.ts";

/*
 * The stand-in is called as the engine called the real plugin (1.2.1) beside an sshd, here beside an SSH server that is
 * set up alike. The recording hides connections: they are made again from what the recorded programs say of them.
 */

const plugin = commandPlugin({ version: "1.2.1", log: () => Promise.resolve() });
const replay = recordingsPresent ? describe : describe.skip;

/** How many calls of each recording are replayed at least. */
const CALLS = { "remote-command": 30, "remote-connection": 45, "remote-copy": 25 };

const ASSET = { "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17" };
const HIDDEN_ASSET = { ...ASSET, hash: "hidden", text: "hush\n" };

let scratch: Scratch;
let server: SshServer;
let usual: Properties;
/** By recording and step: what its connection has beyond the usual one, from there on. */
let connections: Record<string, Properties>;

beforeAll(async () => {
  scratch = await makeScratch();
  const folder = join(scratch.state, "src");
  await mkdir(join(folder, "sub"), { recursive: true });
  for (const file of ["a.txt", "sub/b.txt"]) await writeFile(join(folder, file), file);
  const [locked, stranger] = [newKey("pass"), newKey()];
  server = await startSshServer([locked.public]);
  const { port, clientKey: privateKey, hostKey } = server;
  usual = { host: "127.0.0.1", port, user: "root", privateKey, dialErrorLimit: 10, perDialTimeout: 15 };
  const once = (more: Properties = {}): Properties => ({ dialErrorLimit: 1, ...more });
  const proxy = { ...usual, dialErrorLimit: 1 };
  connections = {
    "remote-command connection-change": { perDialTimeout: 5 },
    "remote-command triggers": { perDialTimeout: 5 },
    "remote-command env-accepted": {},
    "remote-command preview-create": { host: "127.0.0.2" },
    "remote-connection wrong-key": once({ privateKey: stranger.private }),
    "remote-connection wrong-key-limit0": { privateKey: stranger.private, dialErrorLimit: 0 },
    "remote-connection garbage-key": once({ privateKey: "not a key" }),
    "remote-connection encrypted-key-no-pass": once({ privateKey: locked.private }),
    "remote-connection encrypted-key-wrong-pass": once({ privateKey: locked.private, privateKeyPassword: "nope" }),
    "remote-connection password-not-allowed": once({ privateKey: undefined, password: "a password" }),
    "remote-connection no-auth": once({ privateKey: undefined }),
    "remote-connection unknown-user": once({ user: "nosuchuser" }),
    "remote-connection refused": { port: 22_923, dialErrorLimit: 2 },
    "remote-connection unresolvable": once({ host: "no-such-host.invalid" }),
    "remote-connection hostkey-mismatch": once({ hostKey: stranger.public }),
    "remote-connection hostkey-garbage": once({ hostKey: "ssh-ed25519 AAAA" }),
    "remote-connection hostkey-known-hosts-line": once({ hostKey: `127.0.0.1 ${hostKey}` }),
    "remote-connection raw-missing-host": once({ host: undefined }),
    "remote-connection agent-path-missing": once({ agentSocketPath: "/no/such/agent" }),
    "remote-connection hostkey-ok-ed25519": once({ hostKey }),
    "remote-connection hostkey-ok-rsa": once({ hostKey: server.rsaHostKey }),
    "remote-connection encrypted-key-ok": once({ privateKey: locked.private, privateKeyPassword: "pass" }),
    "remote-connection proxy-through-self": once({ proxy }),
    "remote-connection proxy-wrong-key": once({ proxy: { ...proxy, privateKey: stranger.private } }),
    "remote-copy connection-only-change": { dialErrorLimit: 3 },
    "remote-copy file-and-dir": {},
    "remote-copy wrong-key": once({ privateKey: stranger.private }),
  };
});

afterAll(async () => {
  await server.close();
  await scratch.remove();
});

replay("the recordings of the real plugin", () => {
  test.each(Object.entries(CALLS))(
    "command-%s is what the stand-in does",
    async (recording, atLeast) => {
      /** Of each resource that is there, by name: how it was last reached. */
      const kept: Record<string, Properties> = {};
      let current = usual;
      let calls = 0;
      for (const { step, provider_calls: recorded } of recordedSteps(`command-${recording}`, {
        "/tmp/pcopy": scratch.state,
      })) {
        const change = connections[`${recording} ${step}`];
        if (change !== undefined) current = defined({ ...usual, ...change });
        for (const call of recorded.filter((one) => isAnswered(one) && one.method !== "DiffConfig")) {
          const { name = "" } = call.request as { name?: string };
          const before = kept[name] ?? current;
          const actual = await answerOf(plugin, call.method, requested(call, current, before));
          const named = { step, method: call.method };
          expect({ ...named, answer: alike(actual) }).toEqual({ ...named, answer: alike(recordedAnswer(call)) });
          const isDone = ["Create", "Update"].includes(call.method) && call.errors === undefined;
          if (isDone && call.request["preview"] !== true) kept[name] = current;
          calls += 1;
        }
      }
      expect(calls).toBeGreaterThanOrEqual(atLeast);
    },
    60_000,
  );
});

/** The request with connections: the new one where the program's inputs are, else the one of the state. */
function requested({ method, request }: RecordedCall, current: Properties, before: Properties): Properties {
  const isNew = (part: string): boolean => part === "news" || (part === "properties" && method === "Create");
  const parts = Object.entries(request).map(([part, value]) => [part, shown(value, isNew(part) ? current : before)]);
  return Object.fromEntries(parts) as Properties;
}

function shown(value: unknown, connection: Properties): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, unknown] => {
    if (inner !== "<secret>") return [name, inner];
    return [name, secret(name === "connection" ? connection : HIDDEN_ASSET)];
  });
  return Object.fromEntries(entries);
}

function defined(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
}

function alike(answer: unknown): unknown {
  const { id, diffs, failed, ...rest } = comparable(answer ?? {}) as { id?: string; diffs?: string[]; failed?: string };
  return {
    ...rest,
    ...(id !== undefined && { id: id.replace(/[0-9a-f]{8}$/, "") }),
    // Go's maps have no order.
    ...(diffs && { diffs: diffs.toSorted() }),
    // Which name server was asked, and what an SSH server offers, is not told here.
    ...(failed !== undefined && { failed: failed.replace(/ on \S+:53/, "").replace(/, peer offered: .*/, "") }),
  };
}
