import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { input } from "@pulumi/command/types/index.js";
import ssh2, { type Client, type ConnectConfig, type ParsedKey } from "ssh2";
import { reveal, secret, unknown, type CheckFailure, type Properties } from "../protocol.ts";
import { failuresOf, type Type } from "./inputs.ts";

// Not imported by its name: Node.js finds none in this CommonJS module.
const { utils } = ssh2;

const proxied = {
  agentSocketPath: "string",
  dialErrorLimit: "number",
  host: "string",
  hostKey: "string",
  password: "string",
  perDialTimeout: "number",
  port: "number",
  privateKey: "string",
  privateKeyPassword: "string",
  user: "string",
} as const satisfies Record<keyof input.remote.ProxyConnectionArgs, Type>;

const fields = { ...proxied, proxy: "anything" } as const satisfies Record<keyof input.remote.ConnectionArgs, Type>;

/** How another machine is reached. */
export interface Connection {
  host: string;
  port: number;
  user: string;
  password?: string;
  /** In any form that SSH knows. */
  privateKey?: string;
  privateKeyPassword?: string;
  agentSocketPath?: string;
  /** A line of authorized_keys or known_hosts, of which only the key counts. */
  hostKey?: string;
  /** It is dialled once more than that. */
  dialErrorLimit: number;
  /** Seconds. */
  perDialTimeout: number;
  proxy?: Connection;
}

const DEFAULTS = { user: "root", port: 22, dialErrorLimit: 10, perDialTimeout: 15 };

/** The connection with what the program left to the defaults, as a secret; and what is wrong with it. */
export function checkedConnection(given: unknown): { connection: unknown; failures: CheckFailure[] } {
  if (given === unknown || given === undefined) return { connection: given, failures: [] };
  const plain = reveal(given) as Properties;
  const wrong = [
    ...wrongIn(plain, fields, "remote.Connection"),
    ...(plain["proxy"] === undefined ? [] : wrongIn(plain["proxy"] as Properties, proxied, "remote.ProxyConnection")),
  ];
  const { proxy } = plain;
  const filled = {
    ...DEFAULTS,
    ...plain,
    ...(proxy !== undefined && { proxy: { ...DEFAULTS, ...(proxy as object) } }),
  };
  const lines = wrong.map(({ property, reason }) => `\n\t${property}: ${reason}`).join("");
  const reason = `An error occurred decoding 'CommandInputs.connection': ${wrong.length} failures decoding:${lines}`;
  return { connection: secret(filled), failures: wrong.length === 0 ? [] : [{ property: "connection", reason }] };
}

function wrongIn(given: Properties, types: Record<string, Type>, of: string): CheckFailure[] {
  const missing = { property: "host", reason: `Missing required field 'host' on '${of}'` };
  return [...(given["host"] === undefined ? [missing] : []), ...failuresOf(types, given, of)];
}

/**
 * Connects, as often as it may be tried.
 *
 * @throws Error with the real plugin's words
 */
export async function connect(connection: Connection): Promise<Client> {
  const { proxy, dialErrorLimit } = connection;
  const config = configOf(connection);
  const between =
    proxy &&
    (await connect(proxy).catch((error: Error) => {
      throw new Error(`proxy: ${error.message}`, { cause: error });
    }));
  for (let attempt = 0; ; attempt++) {
    try {
      return await dial(config, connection, between);
    } catch (error) {
      if (attempt >= dialErrorLimit) {
        between?.end();
        throw new Error(`after ${dialErrorLimit} failed attempts: ${(error as Error).message}`, { cause: error });
      }
      await delay(Math.min(100 * 2 ** attempt, 2_000));
    }
  }
}

function configOf(connection: Connection): ConnectConfig {
  const { host, port, user: username, password, privateKey, privateKeyPassword, perDialTimeout } = connection;
  const agent = connection.agentSocketPath ?? process.env["SSH_AUTH_SOCK"];
  if (connection.agentSocketPath !== undefined && !existsSync(connection.agentSocketPath)) {
    throw new Error(`dial unix ${connection.agentSocketPath}: connect: no such file or directory`);
  }
  return {
    ...{ host, port, username, readyTimeout: perDialTimeout * 1_000 },
    ...(privateKey !== undefined && { privateKey: opened(privateKey, privateKeyPassword) }),
    ...(privateKeyPassword !== undefined && { passphrase: privateKeyPassword }),
    ...(password !== undefined && { password }),
    ...(agent !== undefined && { agent }),
    ...(connection.hostKey !== undefined && pinned(connection.hostKey)),
  };
}

function opened(privateKey: string, passphrase?: string): string {
  const parsed: unknown = utils.parseKey(privateKey, passphrase);
  if (!(parsed instanceof Error)) return privateKey;
  if (/no passphrase/.test(parsed.message)) throw new Error("ssh: this private key is passphrase protected");
  if (/passphrase|integrity/i.test(parsed.message)) throw new Error("x509: decryption password incorrect");
  throw new Error("ssh: no key found");
}

/** Without this any host key is taken. */
function pinned(line: string): ConnectConfig {
  const [type = "", base64 = ""] = /(?:ssh|ecdsa)-\S+\s+\S+/.exec(line)?.[0].split(/\s+/) ?? [];
  const parsed = utils.parseKey(`${type} ${base64}`) as ParsedKey | ParsedKey[] | Error;
  if (parsed instanceof Error) {
    throw new Error(
      "failed to parse host key: ssh: no key found; last parsing error for ignored line: ssh: short read",
    );
  }
  const wanted = [parsed].flat()[0]!.getPublicSSH();
  const algorithms = { serverHostKey: [type] } as NonNullable<ConnectConfig["algorithms"]>;
  return { hostVerifier: (key: Buffer) => key.equals(wanted), algorithms };
}

async function dial(config: ConnectConfig, connection: Connection, between?: Client): Promise<Client> {
  const { host, port, hostKey = "" } = connection;
  // Go offers a pinned RSA key by its old name only, which no server of today takes.
  if (/(^|\s)ssh-rsa\s/.test(hostKey)) {
    throw new Error("ssh: handshake failed: ssh: no common algorithm for host key; we offered: [ssh-rsa]");
  }
  const sock = between && (await through(between, host, port));
  const client = new ssh2.Client();
  return new Promise((resolve, reject) => {
    client.once("ready", () => resolve(client));
    client.once("error", (error: Error & { level?: string; code?: string }) =>
      reject(new Error(inGo(error, connection), { cause: error })),
    );
    client.once("close", () => between?.end());
    client.connect({ ...config, ...(sock && { sock }) });
  });
}

function through(between: Client, host: string, port: number): Promise<NonNullable<ConnectConfig["sock"]>> {
  return new Promise((resolve, reject) => {
    between.forwardOut("127.0.0.1", 0, host, port, (error, channel) => (error ? reject(error) : resolve(channel)));
  });
}

/** What Go says of a failed dial. */
function inGo(error: Error & { level?: string; code?: string }, connection: Connection): string {
  const { host, port, privateKey, password } = connection;
  switch (error.code) {
    case "ECONNREFUSED":
      return `dial tcp ${host}:${port}: connect: connection refused`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `dial tcp: lookup ${host}: no such host`;
  }
  if (error.level === "client-authentication") {
    if (password !== undefined) return "ssh: handshake failed: ssh: unexpected message type 51 (expected 60)";
    const methods = ["none", ...(privateKey === undefined ? [] : ["publickey"])].join(" ");
    return `ssh: handshake failed: ssh: unable to authenticate, attempted methods [${methods}], no supported methods remain`;
  }
  if (/host denied|verification failed/i.test(error.message)) return "ssh: handshake failed: ssh: host key mismatch";
  if (error.level === "client-timeout") return `dial tcp ${host}:${port}: i/o timeout`;
  return `ssh: handshake failed: ${error.message}`;
}
