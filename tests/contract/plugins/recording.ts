import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Properties } from "../../../emulators/plugins/protocol.ts";

/** What the engine, a real plugin and the other side of the plugin said to each other. It lies beside the checkout. */
const folder = resolve(process.cwd(), "..", "shared", "contract", "plugins");

export const recordingsPresent = existsSync(folder);

export interface RecordedCall {
  method: string;
  request: Properties;
  response: Properties | null;
  /** What gRPC said of a call that failed. */
  errors?: string[];
}

export interface RecordedStep {
  step: string;
  /** What the engine was told, e.g. `up`. */
  command: string;
  exit: number;
  /** Lines that the engine printed. */
  output: string[];
  provider_calls: RecordedCall[];
}

/**
 * The steps of a recording in which the plugin was called.
 *
 * @param recording e.g. `cloudflare-r2bucket`
 * @param here what stands here for a text of the recording, such as the address of a server
 */
export function recordedSteps<Step extends RecordedStep = RecordedStep>(
  recording: string,
  here: Record<string, string> = {},
): Step[] {
  const text = Object.entries(here).reduce(
    (whole, [recorded, actual]) => whole.replaceAll(recorded, actual),
    readFileSync(resolve(folder, `${recording}.json`), "utf8"),
  );
  const { steps } = JSON.parse(text) as { steps: Step[] };
  return steps.filter(({ provider_calls: calls }) => Array.isArray(calls));
}
