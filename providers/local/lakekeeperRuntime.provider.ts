import { z } from "zod";
import { configuredBinary, findRuntime, isUnchanged } from "../../platforms/local/runtime.ts";
import { checkFailure, checkInputs, configure, type Provider } from "../provider.ts";
import { differs } from "./inputs.ts";

export interface LakekeeperRuntimeInputs {
  binary: string;
  version: string;
  download: boolean;
  api: string;
  lockFile: string;
}

export interface LakekeeperRuntimeOutputs extends LakekeeperRuntimeInputs {
  kind: "binary" | "stand-in";
  command: string[];
  runtimeVersion: string;
}

const schema = z.object({
  binary: z.string(),
  version: z.string().regex(/^\d+\.\d+\.\d+$/, "must be a release such as 0.13.3"),
  download: z.boolean(),
  api: z.url("must be a URL"),
  lockFile: z.string().min(1, "must name a file"),
});

async function found(inputs: LakekeeperRuntimeInputs): Promise<LakekeeperRuntimeOutputs> {
  const { kind, command, version } = await findRuntime(inputs);
  return { ...inputs, kind, command, runtimeVersion: version };
}

const lakekeeperRuntime: Provider<LakekeeperRuntimeInputs, LakekeeperRuntimeOutputs> = {
  configure,

  async check(_olds, news) {
    const { inputs, failures } = checkInputs(schema, news);
    const refusal = news.binary ? await configuredBinary(news.binary).catch((error: Error) => error) : undefined;
    if (refusal instanceof Error) failures.push(checkFailure(refusal.message));
    return { inputs, failures };
  },

  async diff(_id, olds, news) {
    if (differs(olds, news, ["binary", "version", "download", "api", "lockFile"])) return { changes: true };
    const { kind, command, runtimeVersion: version } = olds;
    const unchanged = await isUnchanged({ kind, command, version });
    if (!unchanged) console.log(`${command[0]} is gone or has changed: Lakekeeper is looked for again`);
    return { changes: !unchanged };
  },

  async create(inputs) {
    return { id: "lakekeeper-runtime", outs: await found(inputs) };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, _olds, news) {
    return { outs: await found(news) };
  },

  /** What was downloaded stays in the cache, for other checkouts too. */
  async delete() {},
};

export default lakekeeperRuntime;
