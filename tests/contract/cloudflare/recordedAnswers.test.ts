import { recordingsPresent } from "../plugins/recording.ts";
import { cloudflareSteps, type CloudflareStep, type RecordedRequest } from "./recording.ts";
import { startCloudflare, type TestCloudflare } from "./support.ts";

/*
 * The stand-in for the API is asked what the mock was asked with which the real plugin was recorded, and has to answer
 * in the same form: status, fields and their order, kinds of values, error codes and texts.
 */

const accountId = "acc0123456789abcdef0123456789abc";
const recordedZone = "zone123456789abcdef0123456789abc";
const replay = recordingsPresent ? describe : describe.skip;

/** Answers that the mock gave because it was told to, whatever it was asked. */
const forced = [10000, 9109, 7003, 10042, 10008, 10021, 971, 10001];
/** Steps in which the mock took what this stand-in refuses, each for the reason given. */
const refused: Record<string, string> = {
  "worker-bindings": "a binding to a bucket, which would need R2's API inside the Worker",
  "worker-bindings-refresh": "the same",
  "worker-script-format": "a script that is no module",
  "dns-no-content": "a record without content, which DNS does not have",
  "create-400": "a permission group that there is, which the mock was told to refuse",
};

const madeInRefused = ["/svc", "/dns00000000000000000000000000004"];
/** Steps before which the bucket was removed by hand. */
const gone = ["refresh-gone"];
/** Cloudflare refuses an A record beside a CNAME of the same host, the mock did not: here the old one goes first. */
const oldGoesFirst = ["dns-type-change"];

let cloudflare: TestCloudflare;

beforeEach(async () => {
  cloudflare = await startCloudflare({ accountId, jurisdictions: { eu: {} } });
});
afterEach(() => cloudflare.stop());

replay.each(["r2bucket", "accounttoken", "dnsrecord", "workers-and-groups"])(
  "what the mock answered in the recording %s",
  (scenario) => {
    test("the stand-in answers too", async () => {
      const ids = new Map([[recordedZone, cloudflare.zones[0]!.id]]);
      let compared = 0;
      for (const { step, http } of withHandlers(cloudflareSteps(scenario, "mock"))) {
        if (step in refused) continue;
        // Each part of the drift begins anew.
        if (gone.includes(step) || step.endsWith("/create"))
          await ask({ ...http[0]!, method: "DELETE", body: null }, ids);
        const requests = http.filter(isComparable);
        if (oldGoesFirst.includes(step)) requests.reverse();
        for (const request of requests) {
          // Some of what the mock did not find it was told not to find.
          const path = request.response_status === 404 ? request.path.replace(/[^/]+$/, "nowhere") : request.path;
          const actual = await ask({ ...request, path }, ids);
          ids.set(idIn(request), idIn(actual));
          expect({ step, asked: `${request.method} ${request.path}`, ...formOf(actual) }).toEqual({
            step,
            asked: `${request.method} ${request.path}`,
            ...formOf(request),
          });
          compared++;
        }
      }
      expect(compared).toBeGreaterThan(5);
    });
  },
);

/** Cloudflare refuses a Worker that handles nothing, the mock did not. */
function withHandlers(steps: CloudflareStep[]): CloudflareStep[] {
  const text = JSON.stringify(steps).replaceAll("export default {};", "export default { fetch() {} };");
  return JSON.parse(text) as CloudflareStep[];
}

interface Answered {
  response_status: number;
  response_body: unknown;
}

async function ask(
  { method, path, query, headers, body }: RecordedRequest,
  ids: Map<string, string>,
): Promise<Answered> {
  const known = [...ids].reduce((text, [recorded, actual]) => text.replaceAll(recorded, actual), path);
  const isForm = typeof body === "string";
  const { status, text } = await cloudflare.call(method, `${known.slice("/client/v4".length)}?${query}`, {
    headers,
    ...(body !== null && { body: isForm ? Buffer.from(body) : body }),
  });
  return { response_status: status, response_body: text.startsWith("{") ? JSON.parse(text) : text };
}

/** What an answer gave a new thing; a word that is in no path when it made none. */
function idIn({ response_body: body }: Answered): string {
  const { result } = body as { result?: { id?: string } | null };
  return result?.id ?? "none";
}

function isComparable({ path, response_status: status, response_body: body }: RecordedRequest): boolean {
  const [error] = (body as { errors?: { code: number }[] }).errors ?? [];
  const isLeftOut = madeInRefused.some((name) => path.endsWith(name));
  return !isLeftOut && status !== 502 && !(error !== undefined && forced.includes(error.code));
}

/** An answer without the values that are each time different. */
function formOf({ response_status: status, response_body: body }: Answered): object {
  if (typeof body === "string") return { status, body: body.split("\r\n").slice(1, -2) };
  const { errors, messages, result } = body as { errors: unknown; messages: unknown; result: unknown };
  // Written down, so that the order of fields counts; the mock has only some of the permission groups.
  return { status, errors, messages, result: JSON.stringify(kinds(result)) };
}

function kinds(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(kinds);
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, kinds(inner)]));
}
