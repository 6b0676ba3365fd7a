import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { stopProcess, type ProcessId } from "./processId.ts";

/** What is known of a process that was left running, in `<state>/processes/<name>.json`. It holds no secret. */
export interface ProcessRecord extends ProcessId {
  readonly name: string;
  readonly port: number;
  /** Of all that it was started with; another one means that it has to be started anew. */
  readonly fingerprint: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly stopSignal: NodeJS.Signals;
}

export function recordFile(state: string, name: string): string {
  return join(state, "processes", `${name}.json`);
}

/** @returns undefined when there is none, or none that can be read. */
export async function readRecord(state: string, name: string): Promise<ProcessRecord | undefined> {
  try {
    return JSON.parse(await readFile(recordFile(state, name), "utf8")) as ProcessRecord;
  } catch {
    return undefined;
  }
}

export async function writeRecord(state: string, record: ProcessRecord): Promise<void> {
  const file = recordFile(state, record.name);
  await mkdir(join(state, "processes"), { recursive: true });
  await writeFile(`${file}.new`, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  await chmod(`${file}.new`, 0o600);
  await rename(`${file}.new`, file);
}

/** A process that cannot be recorded, as on a full disk, must not be left running: nothing would find it again. */
export async function recordOrStop(state: string, record: ProcessRecord): Promise<void> {
  try {
    await writeRecord(state, record);
  } catch (error) {
    await stopProcess(record, record.stopSignal);
    throw error;
  }
}

export async function removeRecord(state: string, name: string): Promise<void> {
  await rm(recordFile(state, name), { force: true });
}

/** Of every process of a stack, the one started last first. */
export async function listRecords(state: string): Promise<ProcessRecord[]> {
  const files = await readdir(join(state, "processes")).catch(() => []);
  const names = files.filter((file) => file.endsWith(".json")).map((file) => basename(file, ".json"));
  const records = await Promise.all(names.map((name) => readRecord(state, name)));
  return records.filter((record) => record !== undefined).sort((a, b) => b.startedAt.localeCompare(a.startedAt));
}
