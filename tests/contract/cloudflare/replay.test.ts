import { cloudflarePlugin } from "../../../emulators/plugins/cloudflare/plugin.ts";
import type { Plugin, Properties } from "../../../emulators/plugins/protocol.ts";
import { ApiMock, type SeenRequest } from "./apiMock.ts";
import { recordedSteps, recordingsPresent, type RecordedCall, type RecordedStep } from "./recording.ts";

/*
 * The stand-in is called as the engine called the real plugin (level 6.17), and has to answer the same, send the same to
 * Cloudflare, and print the same. Left out, because nothing reads them:
 *  - `__pulumi_raw_state_delta`, in which the real plugin keeps for itself how Terraform's state differs;
 *  - the boundary of multipart bodies, which is random.
 */

const scenarios = ["r2bucket", "accounttoken", "dnsrecord", "workers-and-groups", "worker-settings-drift", "provider"];
const token = "t".repeat(40);
const replay = recordingsPresent ? describe : describe.skip;

let mock: ApiMock;

beforeAll(async () => {
  mock = await ApiMock.start();
});

afterAll(() => mock.close());

replay.each(scenarios)("the recording %s", (scenario) => {
  test("is what the stand-in does", async () => {
    const steps = recordedSteps(scenario, mock.host);
    let calls = 0;
    for (const step of steps) {
      const { actual, expected } = await replayed(step, scenario);
      expect({ step: step.step, ...actual }).toEqual({ step: step.step, ...expected });
      calls += expected.calls.length;
    }
    expect(calls).toBeGreaterThan(20);
  });
});

async function replayed(step: RecordedStep, scenario: string): Promise<{ actual: Outcome; expected: Outcome }> {
  const printed: string[] = [];
  const plugin = cloudflarePlugin({
    version: "6.22.1",
    log: async (severity, message) => void printed.push(`${severity}: ${message}`),
    environment: step.step === "env-token" ? { CLOUDFLARE_API_TOKEN: token } : {},
    patience: 0,
  });
  mock.play(step.http, scenario === "r2bucket" || step.step.startsWith("api-answers-with-spaced-json"));
  plugin.configure({ args: { apiToken: token, baseUrl: `http://${mock.host}/client/v4` } });
  const calls: unknown[] = [];
  const recorded = step.provider_calls.filter(({ method }) => method in methods);
  for (const call of recorded) calls.push(comparable(await answerOf(plugin, call, step.step)));
  const lines = step.output.map((line) => line.trim());
  return {
    actual: { calls, http: mock.seen.map(sentOf).sort(), printed: [...new Set(printed)].sort() },
    expected: {
      calls: recorded.map((call) => comparable(call.errors ? { failed: call.errors[0] } : call.response)),
      http: step.http.map(sentOf).sort(),
      printed: [...new Set(lines.filter((line) => /^(error: \[ERROR\]|warning: \[WARNING\])/.test(line)))].sort(),
    },
  };
}

interface Outcome {
  calls: unknown[];
  http: string[];
  printed: string[];
}

const methods: Record<string, (plugin: Plugin, request: never) => unknown> = {
  CheckConfig: (plugin, request) => plugin.checkConfig(request),
  DiffConfig: (plugin, request) => plugin.diffConfig?.(request),
  Configure: (plugin, request) => plugin.configure(request),
  Check: (plugin, request) => plugin.check(request),
  Diff: (plugin, request) => plugin.diff(request),
  Create: (plugin, request) => plugin.create(request),
  Read: (plugin, request) => plugin.read(request),
  Update: (plugin, request) => plugin.update(request),
  Delete: async (plugin, request) => (await plugin.delete(request)) ?? {},
  Invoke: (plugin, request) => plugin.invoke(request),
};

async function answerOf(plugin: Plugin, { method, request }: RecordedCall, step: string): Promise<unknown> {
  // The recording hides the token, whose form is checked.
  const isHidden = method.endsWith("Config") || method === "Configure";
  const hidden = step === "short-token" ? "short" : token;
  const text = JSON.stringify(request);
  const given = JSON.parse(
    isHidden ? text.replaceAll('"apiToken":"<secret>"', `"apiToken":"${hidden}"`) : text,
  ) as never;
  try {
    return await methods[method]!(plugin, given);
  } catch (error) {
    return { failed: `rpc error: code = Unknown desc = ${(error as Error).message}` };
  }
}

/** Secrets as the recording writes them. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  const properties = { ...(value as Properties) };
  delete properties["__pulumi_raw_state_delta"];
  if ("4dabf18193072939515e22adb298388d" in properties) return "<secret>";
  if (typeof properties["apiToken"] === "string") properties["apiToken"] = "<secret>";
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, comparable(inner)]));
}

function sentOf({ method, path, query, headers, body }: SeenRequest): string {
  const kept = Object.entries(headers).filter(([name]) => /^(cf-|content-type)/i.test(name));
  const text = JSON.stringify([method, path, query, Object.fromEntries(kept.sort()), body]);
  return text.replaceAll(/[0-9a-f]{60}/g, "<boundary>");
}
