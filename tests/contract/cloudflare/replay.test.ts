import { cloudflarePlugin } from "../../../emulators/plugins/cloudflare/plugin.ts";
import { recordingsPresent, type RecordedCall } from "../plugins/recording.ts";
import { answerOf, comparable, isAnswered, recordedAnswer } from "../plugins/replay.ts";
import { ApiMock, type SeenRequest } from "./apiMock.ts";
import { cloudflareSteps, type CloudflareStep } from "./recording.ts";

/*
 * The stand-in is called as the engine called the real plugin (level 6.17), and has to answer the same, send the same to
 * Cloudflare, and print the same. Left out is the boundary of multipart bodies, which is random.
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
    const steps = cloudflareSteps(scenario, mock.host);
    let calls = 0;
    for (const step of steps) {
      const { actual, expected } = await replayed(step, scenario);
      expect({ step: step.step, ...actual }).toEqual({ step: step.step, ...expected });
      calls += expected.calls.length;
    }
    expect(calls).toBeGreaterThan(20);
  });
});

async function replayed(step: CloudflareStep, scenario: string): Promise<{ actual: Outcome; expected: Outcome }> {
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
  const recorded = step.provider_calls.filter(isAnswered);
  for (const call of recorded)
    calls.push(comparable(await answerOf(plugin, call.method, given(call, step.step)), ["apiToken"]));
  const lines = step.output.map((line) => line.trim());
  return {
    actual: { calls, http: mock.seen.map(sentOf).sort(), printed: [...new Set(printed)].sort() },
    expected: {
      calls: recorded.map((call) => comparable(recordedAnswer(call), ["apiToken"])),
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

/** A call with the token, whose form is checked, where the recording hides it. */
function given({ method, request }: RecordedCall, step: string): unknown {
  const isHidden = method.endsWith("Config") || method === "Configure";
  const hidden = step === "short-token" ? "short" : token;
  const text = JSON.stringify(request);
  return JSON.parse(isHidden ? text.replaceAll('"apiToken":"<secret>"', `"apiToken":"${hidden}"`) : text);
}

function sentOf({ method, path, query, headers, body }: SeenRequest): string {
  const kept = Object.entries(headers).filter(([name]) => /^(cf-|content-type)/i.test(name));
  const text = JSON.stringify([method, path, query, Object.fromEntries(kept.sort()), body]);
  return text.replaceAll(/[0-9a-f]{60}/g, "<boundary>");
}
