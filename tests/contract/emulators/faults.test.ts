import { readFile } from "node:fs/promises";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { Faults } from "../../../emulators/faults.ts";
import { startR2 } from "../../../emulators/r2/server.ts";
import { accountId, bucket, parentKeys, s3Client, signer, startTestR2, token, type TestR2 } from "../r2/support.ts";

let r2: TestR2;
const faults = new Faults();

beforeAll(async () => {
  r2 = await startTestR2({ faults });
});
afterAll(() => r2.stop());
afterEach(() => faults.clear());

interface Outcome {
  /** `reset` when there was no answer. */
  status: number | "reset";
  type?: string | null;
  text?: string;
  fault?: string | null;
}

async function send(method: string, path: string, body?: string): Promise<Outcome> {
  try {
    const answer = await signer().fetch(r2.url + path, { method, ...(body !== undefined && { body }) });
    const { status, headers } = answer;
    const fault = headers.get("x-stand-in-fault");
    return { status, type: headers.get("content-type"), text: await answer.text(), fault };
  } catch (error) {
    if ((error as { cause?: { code?: string } }).cause?.code === "ECONNRESET") return { status: "reset" };
    throw error;
  }
}

/** What is stored under a key, asked for without a fault in the way. */
async function stored(key: string): Promise<string | undefined> {
  faults.clear();
  const { status, text } = await send("GET", `/${bucket}/${key}`);
  return status === 200 ? text : undefined;
}

const path = `/${bucket}/object`;
const deletePath = async (): Promise<unknown> => send("DELETE", path);

describe("a fault before the effect leaves no effect, one after it hides the effect", () => {
  test.each([
    ["before, status 503", 503, undefined],
    ["after, status 503", 503, "content"],
    ["before, reset", "reset", undefined],
    ["after, reset", "reset", "content"],
    ["before, delay 50", 200, "content"],
    ["after, delay 50", 200, "content"],
    ["before, delay 50, status 500", 500, undefined],
    ["after, delay 50, status 500", 500, "content"],
  ])("%s", async (what, status, content) => {
    await deletePath();
    faults.add(`PUT ${path}, ${what}`);
    const started = performance.now();
    expect((await send("PUT", path, "content")).status).toBe(status);
    // Timers may fire a millisecond early.
    if (what.includes("delay")) expect(performance.now() - started).toBeGreaterThan(48);
    expect(await stored("object")).toBe(content);
  });

  test("the delay of a true answer keeps it as it is", async () => {
    await send("PUT", path, "x".repeat(300_000));
    faults.add(`GET ${path}, after, delay 20`);
    const { text, fault } = await send("GET", path);
    expect([text?.length, fault]).toEqual([300_000, `GET ${path}, after, delay 20`]);
  });

  test("a body that streams is lost as a whole", async () => {
    await send("PUT", path, "x".repeat(300_000));
    faults.add(`GET ${path}, after, status 500, first 1`);
    faults.add(`GET ${path}, after, reset, first 1`);
    expect(await send("GET", path)).toMatchObject({ status: 500, text: expect.stringContaining("<Error>") as string });
    expect((await send("GET", path)).status).toBe("reset");
    expect((await send("GET", path)).text).toHaveLength(300_000);
  });
});

describe("which requests it strikes", () => {
  async function statuses(count: number, method = "HEAD", target = path): Promise<unknown[]> {
    const outcomes: unknown[] = [];
    for (let n = 0; n < count; n++) outcomes.push((await send(method, target)).status);
    return outcomes;
  }
  beforeAll(() => send("PUT", path, "content"));

  test("every n-th", async () => {
    faults.add("HEAD *, status 503, every 3");
    expect(await statuses(7)).toEqual([200, 200, 503, 200, 200, 503, 200]);
  });

  test("the first n", async () => {
    faults.add("HEAD *, status 503, first 2");
    expect(await statuses(4)).toEqual([503, 503, 200, 200]);
  });

  test("the first n of every m-th", async () => {
    faults.add("HEAD *, status 503, every 2, first 1");
    expect(await statuses(5)).toEqual([200, 503, 200, 200, 200]);
  });

  test("only those of its route, and the first rule that is due wins", async () => {
    faults.add(`HEAD ${path}, status 503, first 1`);
    faults.add(`HEAD *, status 429, first 1`);
    expect(await statuses(1, "GET")).toEqual([200]);
    expect(await statuses(3)).toEqual([503, 429, 200]);
  });
});

describe("its answers look like the service's own", () => {
  test.each([
    [503, "ServiceUnavailable"],
    [429, "TooManyRequests"],
    [403, "AccessDenied"],
    [500, "InternalError"],
    [502, "InternalError"],
  ])("S3, %i", async (status, code) => {
    faults.add(`* *, status ${status}`);
    const { type, text, ...outcome } = await send("GET", path);
    expect(outcome).toEqual({ status, fault: `* *, status ${status}` });
    expect([type, text]).toEqual(["application/xml", expect.stringContaining(`<Error><Code>${code}</Code><Message>`)]);
  });

  test("Cloudflare's API", async () => {
    faults.add("POST /client/v4/*, status 429");
    const { status, type, text } = await send("POST", `/client/v4/accounts/${accountId}/r2/temp-access-credentials`);
    expect([status, type, JSON.parse(text!)]).toEqual([
      429,
      "application/json",
      { success: false, errors: [{ code: 10058, message: "Rate limit exceeded." }], messages: [], result: null },
    ]);
  });

  test("STS", async () => {
    faults.add("POST /, status 503");
    const { type, text } = await send("POST", "/", "Action=AssumeRole");
    expect(type).toBe("text/xml");
    expect(text).toContain("<Error><Type>Receiver</Type><Code>ServiceUnavailable</Code>");
  });

  test("unless the rule brings a body", async () => {
    faults.add("GET *, status 502, body <html>Bad Gateway</html>");
    expect(await send("GET", path)).toMatchObject({ status: 502, text: "<html>Bad Gateway</html>" });
  });
});

test("rules come one on each line from the environment, and the request log names the one that struck", async () => {
  const directory = `${r2.directory}/second`;
  const requestLog = `${r2.directory}/requests.log`;
  const rules = "\nGET /a, status 500\n  GET /b, reset\n";
  const second = await startR2({ directory, accountId, tokens: [token], requestLog, faults: Faults.fromLines(rules) });
  await fetch(`${second.url}/a`);
  await expect(fetch(`${second.url}/b`)).rejects.toThrow("fetch failed");
  await fetch(`${second.url}/c`);
  await second.close();
  const entries = (await readFile(requestLog, "utf8")).trim().split("\n");
  expect(entries.map((entry) => JSON.parse(entry) as object)).toEqual([
    expect.objectContaining({ path: "/a", status: 500, fault: "GET /a, status 500" }),
    expect.not.objectContaining({ status: expect.any(Number) as number }),
    expect.not.objectContaining({ fault: expect.any(String) as string }),
  ]);
});

test("a client that tries again gets through, and writes once", async () => {
  const client = s3Client(r2, parentKeys, { maxAttempts: 3 });
  faults.add(`PUT ${path}, after, reset, first 1`);
  faults.add(`PUT ${path}, status 503, first 1`);
  const { $metadata } = await client.send(new PutObjectCommand({ Bucket: bucket, Key: "object", Body: "third time" }));
  expect($metadata.attempts).toBe(3);
  expect(await stored("object")).toBe("third time");
});
