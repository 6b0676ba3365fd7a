import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Properties } from "../../../emulators/plugins/protocol.ts";

/** What the engine, the real plugin and a mock of Cloudflare said to each other. It lies beside the checkout. */
const folder = resolve(process.cwd(), "..", "shared", "contract", "plugins");

export const recordingsPresent = existsSync(folder);

export interface RecordedCall {
  method: string;
  request: Properties;
  response: Properties | null;
  /** What gRPC said of a call that failed. */
  errors?: string[];
}

export interface RecordedRequest {
  method: string;
  path: string;
  query: string;
  headers: Record<string, string>;
  /** Parsed when it was JSON. */
  body: unknown;
  response_status: number;
  response_body: unknown;
  response_headers?: Record<string, string>;
}

export interface RecordedStep {
  step: string;
  /** Lines that the engine printed. */
  output: string[];
  provider_calls: RecordedCall[];
  http: RecordedRequest[];
}

/** The steps of a scenario in which the plugin was called; addresses of this run stand where those of the mock stood. */
export function recordedSteps(scenario: string, host: string): RecordedStep[] {
  const text = readFileSync(resolve(folder, `cloudflare-${scenario}.json`), "utf8").replaceAll(
    "127.0.0.1:<port>",
    host,
  );
  const { steps } = JSON.parse(text) as { steps: RecordedStep[] };
  return steps.filter(({ provider_calls: calls }) => Array.isArray(calls));
}
