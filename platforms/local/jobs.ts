import { UserError } from "../../clients/errors.ts";
import { withLock } from "./lock.ts";
import { secretsOf, tail } from "./logs.ts";
import { stopProcess } from "./processId.ts";
import { recordFile } from "./records.ts";
import { spawnDetached, type SpawnOptions } from "./spawn.ts";

export interface Job extends SpawnOptions {
  /** The stack's folder for state. */
  readonly state: string;
  readonly name: string;
  readonly timeoutSeconds: number;
}

/** @throws UserError with the end of its log when the program does not end with exit code 0 in time. */
export async function runJob(job: Job): Promise<void> {
  await withLock(recordFile(job.state, job.name), async () => {
    const { id, log, exited } = await spawnDetached(job);
    const { promise: deadline, resolve: expire } = Promise.withResolvers<string>();
    const timer = setTimeout(expire, job.timeoutSeconds * 1_000, `still ran after ${job.timeoutSeconds} s`);
    const outcome = await Promise.race([exited, deadline]);
    clearTimeout(timer);
    if (outcome === "exit code 0") return;
    await stopProcess(id);
    const said = await tail(log, secretsOf(job.environment));
    throw new UserError(
      `${job.name} failed: ${outcome}. Its log is ${log.path}${said ? ` and ends with:\n${said}` : ", empty."}`,
    );
  });
}
