import { reveal, unknown, type Log, type Plugin, type Properties } from "../protocol.ts";
import { difference } from "./difference.ts";
import { failuresOf, runInputs, type CommandInputs } from "./inputs.ts";
import { copy, localCommand, loud, remoteCommand, type Kind } from "./kinds.ts";
import { runCommand } from "./shell.ts";

export interface PluginOptions {
  /** That of the SDK, so that the engine has nothing to warn of. */
  version: string;
  log: Log;
}

const kinds: Record<string, Kind> = {
  "command:local:Command": localCommand,
  "command:remote:Command": remoteCommand,
  "command:remote:CopyToRemote": copy,
};

const RUN = "command:local:run";

/**
 * A stand-in for Pulumi's command plugin: commands on this machine and on others, with the answers, diffs and errors of
 * the real one (seen at 1.2.1), which takes nothing that the SDK's types do not have.
 */
export function commandPlugin({ version, log }: PluginOptions): Plugin {
  return {
    version,
    checkConfig: ({ news }) => ({ inputs: { ...news, "__pulumi-go-provider-version": "1.2.0" } }),
    configure: () => ({ acceptSecrets: true, supportsPreview: true, acceptResources: true, acceptOutputs: true }),

    check({ type, news }) {
      const { inputs, failures } = kindOf(type).check(news);
      return { inputs, ...(failures.length > 0 && { failures }) };
    },

    diff({ type, olds, news }) {
      const { inputs } = kindOf(type);
      return difference(Object.fromEntries(Object.entries(olds).filter(([name]) => name in inputs)), news);
    },

    async create({ type, name, urn, properties, preview = false }) {
      const kind = kindOf(type);
      const outputs = preview ? unknownOf(kind) : await kind.create(properties, { urn, log });
      return { id: kind.idOf(name), properties: { ...properties, ...outputs } };
    },

    /** Nothing is looked at: a command leaves nothing that could be. */
    read: async ({ id, properties = {}, inputs = {} }) => ({ id, properties, inputs }),

    async update({ type, urn, olds, news, preview = false }) {
      const kind = kindOf(type);
      const outputs = preview ? unknownOf(kind) : await kind.update(olds, news, { urn, log });
      return { properties: { ...news, ...outputs } };
    },

    async delete({ type, urn, properties }) {
      await kindOf(type).delete(properties, { urn, log });
    },

    async invoke({ tok, args }) {
      if (tok !== RUN) throw new Error(`Invoke '${tok.replace(/^command:/, "")}' not found`);
      const { command, ...inputs } = reveal(args) as CommandInputs & { command?: string };
      const missing = { property: "command", reason: "Missing required field 'command' on 'local.RunInputs'" };
      const failures = failuresOf(runInputs, args, "local.RunInputs");
      if (command === undefined) return { return: {}, failures: [...failures, missing] };
      if (failures.length > 0) return { return: {}, failures };
      return {
        return: {
          ...args,
          ...(await runCommand(command, { ...inputs, onLine: loud({ urn: "", log }, inputs.logging) })),
        },
      };
    },
  };
}

function kindOf(type: string): Kind {
  const kind = kinds[type];
  if (kind === undefined) throw new Error(`Resource '${type.replace(/^command:/, "")}' not found`);
  return kind;
}

function unknownOf({ made }: Kind): Properties {
  return Object.fromEntries(made.map((name) => [name, unknown]));
}
