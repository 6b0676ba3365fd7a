import { recordedSteps, type RecordedStep } from "../plugins/recording.ts";

/** What the real plugin asked a mock of Cloudflare. */
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

export interface CloudflareStep extends RecordedStep {
  http: RecordedRequest[];
}

/** The steps of a scenario, with the address of this run where that of the mock stood. */
export function cloudflareSteps(scenario: string, host: string): CloudflareStep[] {
  return recordedSteps<CloudflareStep>(`cloudflare-${scenario}`, { "127.0.0.1:<port>": host });
}
