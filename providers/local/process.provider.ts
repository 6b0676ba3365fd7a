import { join } from "node:path";
import { z } from "zod";
import { codeDigest } from "../../platforms/local/code.ts";
import { namingFullDisk } from "../../platforms/local/disk.ts";
import { ensureRunning, stopService, whyNotRunning, type Service } from "../../platforms/local/processes.ts";
import { readRecord } from "../../platforms/local/records.ts";
import { checkInputs, configure, type Provider } from "../provider.ts";
import { differs, fileName, port, programShape, seconds } from "./inputs.ts";

export interface ProcessInputs {
  state: string;
  name: string;
  command: string[];
  environment: Record<string, string>;
  port: number;
  healthPath: string;
  startTimeoutSeconds: number;
  code: string[];
  /** Filled by `check`. */
  codeDigest?: string;
  portRemedy?: string;
}

export interface ProcessOutputs extends ProcessInputs {
  url: string;
  pid: number;
  startTime: string;
  running: boolean;
}

const schema = z.object({
  ...programShape,
  name: fileName,
  port,
  healthPath: z.string().startsWith("/", "must begin with /"),
  startTimeoutSeconds: seconds,
});

const urlOf = ({ port }: ProcessInputs) => `http://127.0.0.1:${port}`;

function serviceOf(inputs: ProcessInputs): Service {
  const { state, name, command, environment, port, startTimeoutSeconds, codeDigest = "", portRemedy } = inputs;
  return {
    ...{ state, name, command, environment, port, startTimeoutSeconds, codeDigest, cwd: process.cwd() },
    healthUrl: urlOf(inputs) + inputs.healthPath,
    logFile: join(state, "logs", `${name}.log`),
    ...(portRemedy !== undefined && { portRemedy }),
  };
}

async function ensured(inputs: ProcessInputs): Promise<ProcessOutputs> {
  const { pid, startTime } = await namingFullDisk(inputs.state, () => ensureRunning(serviceOf(inputs)));
  return { ...inputs, url: urlOf(inputs), pid, startTime, running: true };
}

const processProvider: Provider<ProcessInputs, ProcessOutputs> = {
  configure,

  async check(_olds, news) {
    const result = checkInputs(schema, news, { secrets: ["environment"] });
    return { ...result, inputs: { ...news, codeDigest: await codeDigest(news.code) } };
  },

  async diff(_id, olds, news) {
    if (olds.state !== news.state || olds.name !== news.name) {
      return { changes: true, replaces: ["name"], deleteBeforeReplace: true };
    }
    if (differs(olds, news, ["command", "environment", "port", "healthPath", "startTimeoutSeconds", "codeDigest"])) {
      return { changes: true };
    }
    const reason = await whyNotRunning(serviceOf(news));
    if (reason) console.log(`${news.name} ${reason}: it is going to be started`);
    return { changes: reason !== undefined || !olds.running };
  },

  async create(inputs) {
    return { id: inputs.name, outs: await ensured(inputs) };
  },

  async read(id, props) {
    const running = (await whyNotRunning(serviceOf(props))) === undefined;
    const record = running ? await readRecord(props.state, props.name) : undefined;
    return { id, props: { ...props, running, ...(record && { pid: record.pid, startTime: record.startTime }) } };
  },

  async update(_id, _olds, news) {
    return { outs: await ensured(news) };
  },

  async delete(_id, { state, name }) {
    await stopService(state, name);
  },
};

export default processProvider;
