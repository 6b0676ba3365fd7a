import { join } from "node:path";
import { z } from "zod";
import { codeDigest } from "../../platforms/local/code.ts";
import { namingFullDisk } from "../../platforms/local/disk.ts";
import { runJob } from "../../platforms/local/jobs.ts";
import { checkInputs, configure, type Provider } from "../provider.ts";
import { differs, fileName, programShape, seconds } from "./inputs.ts";

export interface JobInputs {
  state: string;
  name: string;
  command: string[];
  environment: Record<string, string>;
  timeoutSeconds: number;
  code: string[];
  /** Filled by `check`. */
  codeDigest?: string;
  triggers: Record<string, string>;
}

export interface JobOutputs extends JobInputs {
  completedAt: string;
}

const schema = z.object({ ...programShape, name: fileName, timeoutSeconds: seconds });

async function completed(inputs: JobInputs): Promise<JobOutputs> {
  const { state, name, command, environment, timeoutSeconds } = inputs;
  const logFile = join(state, "logs", `${name}.log`);
  await namingFullDisk(state, () =>
    runJob({ state, name, command, environment, timeoutSeconds, logFile, cwd: process.cwd() }),
  );
  return { ...inputs, completedAt: new Date().toISOString() };
}

const job: Provider<JobInputs, JobOutputs> = {
  configure,

  async check(_olds, news) {
    const result = checkInputs(schema, news, { secrets: ["environment"] });
    return { ...result, inputs: { ...news, codeDigest: await codeDigest(news.code) } };
  },

  async diff(_id, olds, news) {
    return { changes: differs(olds, news, ["command", "environment", "codeDigest", "triggers"]) };
  },

  async create(inputs) {
    return { id: inputs.name, outs: await completed(inputs) };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, _olds, news) {
    return { outs: await completed(news) };
  },

  /** What a job has done stays. */
  async delete() {},
};

export default job;
