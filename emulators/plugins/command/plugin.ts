import { randomBytes } from "node:crypto";
import { reveal, unknown, type Log, type Plugin, type Properties } from "../protocol.ts";
import { difference } from "./difference.ts";
import { commandInputs, failuresOf, runInputs, type CommandInputs } from "./inputs.ts";
import { runCommand, type Outputs } from "./shell.ts";

export interface PluginOptions {
  /** That of the SDK, so that the engine has nothing to warn of. */
  version: string;
  log: Log;
}

const COMMAND = "command:local:Command";
const RUN = "command:local:run";
const REMOTE = ["command:remote:Command", "command:remote:CopyToRemote"];

/**
 * A stand-in for Pulumi's command plugin: commands on this machine, with the answers, diffs and errors of the real one
 * (seen at 1.2.1), which takes nothing that the SDK's types do not have. It has no SSH.
 */
export function commandPlugin({ version, log }: PluginOptions): Plugin {
  const loud = (logging: string | undefined, urn: string) => (stream: keyof Outputs, line: string) => {
    const isTold =
      logging === "none" ? false : ["stdout", "stderr"].includes(logging ?? "") ? logging === stream : true;
    if (isTold) void log("info", line, urn);
  };

  /** What a text puts out, with all that it is told but the text; nothing without one. */
  async function run(
    text: string | undefined,
    inputs: CommandInputs,
    urn: string,
    previous?: Outputs,
  ): Promise<Outputs> {
    if (text === undefined) return { stdout: "", stderr: "" };
    const told = inputs.addPreviousOutputInEnv === false ? undefined : previous;
    return runCommand(text, { ...inputs, previous: told, onLine: loud(inputs.logging, urn) });
  }

  return {
    version,
    checkConfig: ({ news }) => ({ inputs: { ...news, "__pulumi-go-provider-version": "1.2.0" } }),
    configure: () => ({ acceptSecrets: true, supportsPreview: true, acceptResources: true, acceptOutputs: true }),

    check({ type, news }) {
      if (REMOTE.includes(type)) {
        const reason = `The stand-in for Pulumi's command plugin runs local commands only: ${type} needs the real plugin, which has SSH`;
        return { inputs: news, failures: [{ reason }] };
      }
      if (type !== COMMAND) throw new Error(`Resource '${type.replace(/^command:/, "")}' not found`);
      const failures = failuresOf(commandInputs, news, "local.CommandInputs");
      return { inputs: news, ...(failures.length > 0 && { failures }) };
    },

    diff: ({ olds, news }) => difference(inputsIn(olds), news),

    async create({ name, urn, properties, preview = false }) {
      const id = name + randomBytes(4).toString("hex");
      if (preview) return { id, properties: { ...properties, stdout: unknown, stderr: unknown } };
      const inputs = reveal(properties) as CommandInputs;
      return { id, properties: { ...properties, ...(await run(inputs.create, inputs, urn)) } };
    },

    /** Nothing is looked at: a command leaves nothing that could be. */
    read: async ({ id, properties = {}, inputs = {} }) => ({ id, properties, inputs }),

    async update({ urn, olds, news, preview = false }) {
      const previous = outputsIn(olds);
      if (preview) return { properties: { ...news, stdout: unknown, stderr: unknown } };
      const inputs = reveal(news) as CommandInputs;
      return { properties: { ...news, ...(await run(inputs.update ?? inputs.create, inputs, urn, previous)) } };
    },

    async delete({ urn, properties }) {
      const previous = outputsIn(properties);
      const inputs = reveal(properties) as CommandInputs;
      await run(inputs.delete, inputs, urn, previous);
    },

    async invoke({ tok, args }) {
      if (tok !== RUN) throw new Error(`Invoke '${tok.replace(/^command:/, "")}' not found`);
      const inputs = reveal(args) as CommandInputs & { command?: string };
      const missing = { property: "command", reason: "Missing required field 'command' on 'local.RunInputs'" };
      const failures = failuresOf(runInputs, args, "local.RunInputs");
      if (inputs.command === undefined) failures.push(missing);
      if (failures.length > 0) return { return: {}, failures };
      return { return: { ...args, ...(await run(inputs.command, inputs, "")) } };
    },
  };
}

/** What the state has of inputs. */
function inputsIn(state: Properties): Properties {
  return Object.fromEntries(Object.entries(state).filter(([name]) => name in commandInputs));
}

/** @throws Error for a resource that was imported, which has none */
function outputsIn(state: Properties): Outputs {
  const missing = (["stdout", "stderr"] as const).filter((name) => state[name] === undefined);
  if (missing.length > 0) {
    const each = missing.map((name) => `\n\t${name}: Missing required field '${name}' on 'local.CommandOutputs'`);
    throw new Error(`${missing.length} failures decoding:${each.join("")}`);
  }
  return reveal({ stdout: state["stdout"], stderr: state["stderr"] }) as Outputs;
}
