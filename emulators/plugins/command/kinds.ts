import { randomBytes } from "node:crypto";
import { isSecret, reveal, secret, unknown, type CheckFailure, type Log, type Properties } from "../protocol.ts";
import { checkedConnection, type Connection } from "./connection.ts";
import { copyToRemote, type Source } from "./copy.ts";
import { commandInputs, copyInputs, failuresOf, remoteInputs, type CommandInputs, type Type } from "./inputs.ts";
import { runRemotely } from "./remoteShell.ts";
import { runCommand, type Outputs } from "./shell.ts";

/** One type of resource. */
export interface Kind {
  readonly inputs: Record<string, Type>;
  /** The inputs with what the program left to the defaults, and what is wrong with them. */
  check(news: Properties): { inputs: Properties; failures: CheckFailure[] };
  idOf(name: string): string;
  /** Outputs beyond the inputs, which a preview does not know. */
  readonly made: readonly string[];
  create(inputs: Properties, at: At): Promise<Properties>;
  update(olds: Properties, news: Properties, at: At): Promise<Properties>;
  delete(state: Properties, at: At): Promise<void>;
}

/** Where things are told. */
export interface At {
  readonly urn: string;
  readonly log: Log;
}

interface RemoteInputs extends CommandInputs {
  connection: Connection;
}

/** Each line is told as it is logged; a way of logging that is not known is taken for both. */
export function loud({ urn, log }: At, logging: string | undefined): (stream: keyof Outputs, line: string) => void {
  return (stream, line) => {
    if (logging === "none" || (["stdout", "stderr"].includes(logging ?? "") && logging !== stream)) return;
    void log("info", line, urn);
  };
}

const random = (): string => randomBytes(4).toString("hex");

type Run = (text: string, inputs: CommandInputs, previous: Outputs | undefined, at: At) => Promise<Outputs>;

const locally: Run = (text, inputs, previous, at) =>
  runCommand(text, { ...inputs, previous, onLine: loud(at, inputs.logging) });

const remotely: Run = (text, inputs, previous, at) =>
  runRemotely(text, {
    ...(inputs as RemoteInputs),
    previous,
    onLine: loud(at, inputs.logging),
    warn: (message) => void at.log("warning", message, at.urn),
  });

export const localCommand = command(commandInputs, "local.CommandInputs", locally);
export const remoteCommand = command(remoteInputs, "remote.CommandInputs", remotely);

function command(inputs: Record<string, Type>, of: string, run: Run): Kind {
  /** What a text puts out, with all that it is told but the text; nothing without one. */
  async function outputsOf(text: string | undefined, given: Properties, at: At, before?: Outputs): Promise<Properties> {
    if (text === undefined) return { stdout: "", stderr: "" };
    const plain = reveal(given) as CommandInputs;
    return { ...(await run(text, plain, plain.addPreviousOutputInEnv === false ? undefined : before, at)) };
  }
  const textsOf = (given: Properties): CommandInputs => reveal(given) as CommandInputs;
  return {
    inputs,
    check: (news) => checked(news, inputs, of),
    idOf: (name) => name + random(),
    made: ["stdout", "stderr"],
    create: (given, at) => outputsOf(textsOf(given).create, given, at),
    update(olds, news, at) {
      const { update, create } = textsOf(news);
      return outputsOf(update ?? create, news, at, previousIn(olds));
    },
    async delete(state, at) {
      await outputsOf(textsOf(state).delete, state, at, previousIn(state));
    },
  };
}

const ARCHIVE = "0def7320c3a5731c473e5ecbe6d01bc7";

/** An asset or an archive with all of its fields, secret if it was. */
function whole(source: unknown): unknown {
  if (source === undefined || source === unknown) return source;
  const plain = reveal(source) as Properties;
  const isArchive = Object.values(plain).includes(ARCHIVE);
  const filled = { path: "", uri: "", ...(isArchive ? { assets: {} } : { text: "" }), ...plain };
  return isSecret(source) ? secret(filled) : filled;
}

/** Files stay where they are when it goes. */
export const copy: Kind = {
  inputs: copyInputs,
  check(news) {
    const { inputs, failures } = checked(news, copyInputs, "remote.CopyToRemoteInputs");
    const source = whole(news["source"]);
    const { uri = "", assets = {} } = (source === unknown ? {} : (reveal(source) ?? {})) as Properties;
    const isUsable = uri === "" && Object.keys(assets as object).length === 0;
    const reason = "asset must be a path-based file asset or a text asset";
    return {
      inputs: { ...inputs, ...(source !== undefined && { source }) },
      failures: isUsable ? failures : [...failures, { property: "source", reason }],
    };
  },
  idOf: random,
  made: [],
  async create(inputs) {
    await copied(inputs);
    return { source: whole(inputs["source"]) };
  },
  async update(olds, news) {
    const [before, now] = [reveal(olds), reveal(news)] as [Properties, Properties];
    const hashOf = ({ source }: Properties): unknown => (source as Properties)["hash"];
    // Where it is reached says nothing about what is there.
    if (hashOf(before) !== hashOf(now) || before["remotePath"] !== now["remotePath"]) await copied(news);
    return { source: whole(news["source"]) };
  },
  async delete() {},
};

async function copied(inputs: Properties): Promise<void> {
  const { source, remotePath, connection } = reveal(inputs) as {
    source: Source;
    remotePath: string;
    connection: Connection;
  };
  await copyToRemote(source, remotePath, connection);
}

function checked(
  news: Properties,
  types: Record<string, Type>,
  of: string,
): { inputs: Properties; failures: CheckFailure[] } {
  const failures = failuresOf(types, news, of);
  if (!("connection" in types)) return { inputs: news, failures };
  const { connection, failures: wrong } = checkedConnection(news["connection"]);
  return { inputs: { ...news, connection }, failures: [...failures, ...wrong] };
}

/** @throws Error for a resource that was imported, which has none */
function previousIn(state: Properties): Outputs {
  const missing = (["stdout", "stderr"] as const).filter((name) => state[name] === undefined);
  if (missing.length > 0) {
    const each = missing.map((name) => `\n\t${name}: Missing required field '${name}' on 'local.CommandOutputs'`);
    throw new Error(`${missing.length} failures decoding:${each.join("")}`);
  }
  return reveal({ stdout: state["stdout"], stderr: state["stderr"] }) as Outputs;
}
