import { createHash, createHmac } from "node:crypto";
import { startR2 } from "../../../emulators/r2/server.ts";
import {
  accountId,
  bucket,
  errorCode,
  parentKeys,
  signer,
  startTestR2,
  token,
  type Keys,
  type TestR2,
} from "./support.ts";

let r2: TestR2;

beforeAll(async () => {
  r2 = await startTestR2({ buckets: [bucket, "other"] });
  for (const key of ["table/data/a", "table/b", "elsewhere/c", "single"]) {
    await signer().fetch(`${r2.url}/${bucket}/${key}`, { method: "PUT", body: key });
  }
  await signer().fetch(`${r2.url}/other/table/data/a`, { method: "PUT", body: "other" });
});
afterAll(() => r2.stop());
afterEach(() => {
  r2.clock.offset = 0;
});

const request = {
  bucket,
  parentAccessKeyId: token.id,
  permission: "object-read-write",
  ttlSeconds: 3600,
};

interface Envelope {
  success: boolean;
  errors: { code: number; message: string }[];
  messages: unknown[];
  result: Keys | null;
}

async function mint(
  body: unknown,
  headers: Record<string, string> = { authorization: `Bearer ${token.value}` },
  account = accountId,
) {
  const response = await fetch(`${r2.url}/client/v4/accounts/${account}/r2/temp-access-credentials`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, envelope: (await response.json()) as Envelope };
}

async function credentials(more: object = {}): Promise<Keys> {
  return (await mint({ ...request, ...more })).envelope.result!;
}

/** E.g. `200`, or `403 AccessDenied`. */
async function attempt(keys: Keys, method: string, path: string, body?: string, at = r2.url): Promise<string> {
  const response = await signer(keys).fetch(`${at}/${path}`, { method, ...(body !== undefined && { body }) });
  return `${response.status} ${response.ok ? "" : await errorCode(response)}`.trim();
}

describe("Cloudflare's API", () => {
  test("answers in its envelope", async () => {
    const { status, envelope } = await mint({ ...request, prefixes: ["table/"] });
    expect([status, envelope.success, envelope.errors, envelope.messages]).toEqual([200, true, [], []]);
    expect(Object.keys(envelope.result!)).toEqual(["accessKeyId", "secretAccessKey", "sessionToken"]);
    expect(envelope.result!.accessKeyId).toMatch(/^[0-9a-f]{32}$/);
    expect(envelope.result!.secretAccessKey).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each([
    ["no JSON", "{", 400, 10040],
    ["an unknown field", { ...request, prefix: "table/" }, 400, 10040],
    ["an unknown permission", { ...request, permission: "read" }, 400, 10040],
    ["more than a week", { ...request, ttlSeconds: 604_801 }, 400, 10040],
    ["no time at all", { ...request, ttlSeconds: 0 }, 400, 10040],
    ["prefixes that are no list", { ...request, prefixes: "table/" }, 400, 10040],
    ["no bucket", { ...request, bucket: undefined }, 400, 10040],
    ["another parent", { ...request, parentAccessKeyId: "2".repeat(32) }, 403, 10003],
    ["a bucket that is not there", { ...request, bucket: "nowhere" }, 404, 10006],
  ])("refuses %s", async (_what, body, expectedStatus, code) => {
    const { status, envelope } = await mint(body);
    expect([status, envelope.success, envelope.errors[0]?.code, envelope.result]).toEqual([
      expectedStatus,
      false,
      code,
      null,
    ]);
  });

  test("refuses who bears no token, a wrong one, or means another account", async () => {
    const code = async (answer: ReturnType<typeof mint>) => [
      (await answer).status,
      (await answer).envelope.errors[0]?.code,
    ];
    expect(await code(mint(request, {}))).toEqual([400, 9106]);
    expect(await code(mint(request, { authorization: "Basic eDp5" }))).toEqual([400, 6003]);
    expect(await code(mint(request, { authorization: "Bearer wrong" }))).toEqual([403, 10000]);
    expect(await code(mint(request, undefined, "f".repeat(32)))).toEqual([403, 10000]);
  });

  test("has no other routes, and says which it was asked for", async () => {
    const response = await fetch(`${r2.url}/client/v4/accounts/${accountId}/r2/sippy`);
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("/r2/sippy")]);
  });

  test("gives no more than the parent has", async () => {
    const reader = { id: "3".repeat(32), value: "reader", permission: "object-read-only" } as const;
    r2.addToken(reader);
    const bearer = { authorization: `Bearer ${reader.value}` };
    const body = { ...request, parentAccessKeyId: reader.id };
    expect((await mint(body, bearer)).envelope.errors[0]?.code).toBe(10003);
    expect((await mint({ ...body, permission: "object-read-only" }, bearer)).status).toBe(200);
  });
});

describe("temporary credentials", () => {
  // What each of the four permissions may do: read, list, write, delete, list buckets, delete a bucket.
  test.each([
    ["object-read-only", ["200", "200", "403", "403", "403", "403"]],
    ["object-read-write", ["200", "200", "200", "204", "403", "403"]],
    ["admin-read-only", ["200", "200", "403", "403", "403", "403"]],
    ["admin-read-write", ["200", "200", "200", "204", "403", "409"]],
  ])("with %s", async (permission, expected) => {
    const keys = await credentials({ permission });
    const outcomes = [
      await attempt(keys, "GET", `${bucket}/table/b`),
      await attempt(keys, "GET", `${bucket}?list-type=2`),
      await attempt(keys, "PUT", `${bucket}/written`, "x"),
      await attempt(keys, "DELETE", `${bucket}/written`),
      await attempt(keys, "GET", ""),
      await attempt(keys, "DELETE", bucket),
    ];
    expect(outcomes.map((outcome) => outcome.slice(0, 3))).toEqual(expected);
  });

  test.each([
    ["GET", `${bucket}/table/data/a`, undefined, "200"],
    ["GET", `${bucket}/table/b`, undefined, "200"],
    ["GET", `${bucket}/single`, undefined, "200"],
    ["GET", `${bucket}/elsewhere/c`, undefined, "403 AccessDenied"],
    ["GET", `${bucket}/table`, undefined, "403 AccessDenied"],
    ["GET", `${bucket}/single2`, undefined, "403 AccessDenied"],
    ["GET", "other/table/data/a", undefined, "403 AccessDenied"],
    ["PUT", `${bucket}/table/new`, "x", "200"],
    ["PUT", `${bucket}/tabletop`, "x", "403 AccessDenied"],
    ["POST", `${bucket}/tabletop?uploads`, undefined, "403 AccessDenied"],
    ["GET", `${bucket}?list-type=2&prefix=table/data`, undefined, "200"],
    ["GET", `${bucket}?list-type=2&prefix=tab`, undefined, "403 AccessDenied"],
    ["GET", `${bucket}?list-type=2`, undefined, "403 AccessDenied"],
  ])("for a prefix and an object: %s %s", async (method, path, body, expected) => {
    const keys = await credentials({ prefixes: ["table/"], objects: ["single"] });
    expect(await attempt(keys, method, path, body)).toBe(expected);
  });

  test("cannot copy from outside, nor delete there by list", async () => {
    const keys = await credentials({ prefixes: ["table/"] });
    const headers = { "x-amz-copy-source": `${bucket}/elsewhere/c` };
    const copy = await signer(keys).fetch(`${r2.url}/${bucket}/table/copy`, { method: "PUT", headers });
    expect([copy.status, await errorCode(copy)]).toEqual([403, "AccessDenied"]);

    const body = "<Delete><Object><Key>table/new</Key></Object><Object><Key>elsewhere/c</Key></Object></Delete>";
    const md5 = createHash("md5").update(body).digest("base64");
    const deletion = await signer(keys).fetch(`${r2.url}/${bucket}?delete`, {
      method: "POST",
      body,
      headers: { "content-md5": md5 },
    });
    expect(await deletion.text()).toContain("<Error><Key>elsewhere/c</Key><Code>AccessDenied</Code>");
    expect(await attempt(parentKeys, "GET", `${bucket}/elsewhere/c`)).toBe("200");
  });

  test("expire", async () => {
    const keys = await credentials({ ttlSeconds: 30 });
    expect(await attempt(keys, "GET", `${bucket}/table/b`)).toBe("200");
    r2.clock.offset = 31;
    expect(await attempt(keys, "GET", `${bucket}/table/b`)).toBe("400 ExpiredToken");
  });

  test("are refused when they are mixed or changed", async () => {
    const keys = await credentials({ prefixes: ["table/"] });
    const others = await credentials();
    const read = (mixed: Keys): Promise<string> => attempt(mixed, "GET", `${bucket}/table/b`);
    expect(await read({ ...keys, sessionToken: others.sessionToken! })).toBe("400 InvalidToken");
    expect(await read({ ...parentKeys, sessionToken: keys.sessionToken! })).toBe("400 InvalidToken");
    expect(await read({ ...keys, secretAccessKey: others.secretAccessKey })).toBe("403 SignatureDoesNotMatch");
    const { accessKeyId, secretAccessKey } = keys;
    expect(await read({ accessKeyId, secretAccessKey })).toBe("401 Unauthorized");

    const [head, claims, signature] = Buffer.from(keys.sessionToken!, "base64").toString().split(".");
    const widened = JSON.stringify({ ...JSON.parse(Buffer.from(claims!, "base64url").toString()), paths: undefined });
    const forged = `${head}.${Buffer.from(widened).toString("base64url")}.${signature}`;
    const sessionToken = Buffer.from(forged).toString("base64");
    expect(await read({ ...keys, sessionToken })).toBe("400 InvalidToken");
  });

  test("survive a restart, and die with their parent", async () => {
    const short = { id: "4".repeat(32), value: "revoked-later", permission: "admin-read-write" } as const;
    r2.addToken(short);
    const minted = await mint({ ...request, parentAccessKeyId: short.id }, { authorization: `Bearer ${short.value}` });
    const keys = minted.envelope.result!;
    const again = await startR2({ directory: r2.directory, accountId, tokens: [token, short] });
    try {
      expect(await attempt(keys, "GET", `${bucket}/table/b`, undefined, again.url)).toBe("200");
      const revocation = await fetch(`${again.url}/client/v4/accounts/${accountId}/tokens/${short.id}`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${token.value}` },
      });
      expect(revocation.status).toBe(200);
      expect(await attempt(keys, "GET", `${bucket}/table/b`, undefined, again.url)).toBe("401 Unauthorized");
    } finally {
      await again.close();
    }
    expect(await attempt(keys, "GET", `${bucket}/table/b`)).toBe("401 Unauthorized");
  });
});

describe("credentials signed without asking anybody", () => {
  /** As R2's documentation describes it: a JWT signed with the parent's secret access key. */
  function signed(claims: object): Keys {
    const now = Math.floor(Date.now() / 1000);
    const standard = { sub: accountId, iss: token.id, aud: new URL(r2.url).host, iat: now, exp: now + 900 };
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const content = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ ...standard, ...claims })}`;
    const jwt = `${content}.${createHmac("sha256", parentKeys.secretAccessKey).update(content).digest("base64url")}`;
    return {
      accessKeyId: token.id,
      secretAccessKey: createHash("sha256").update(jwt).digest("hex"),
      sessionToken: Buffer.from(`jwt/${jwt}`).toString("base64"),
    };
  }

  test("work, down to single operations", async () => {
    const keys = signed({
      bucket,
      scope: "object-read-write",
      actions: ["GetObject"],
      paths: { prefixPaths: ["table/"] },
    });
    expect(await attempt(keys, "GET", `${bucket}/table/b`)).toBe("200");
    expect(await attempt(keys, "GET", `${bucket}/elsewhere/c`)).toBe("403 AccessDenied");
    expect(await attempt(keys, "PUT", `${bucket}/table/new`, "x")).toBe("403 AccessDenied");
    expect(await attempt(keys, "GET", `${bucket}?list-type=2&prefix=table/`)).toBe("403 AccessDenied");
  });

  test.each([
    ["another account", { sub: "f".repeat(32) }],
    ["another endpoint", { aud: "example.com" }],
    ["no end", { exp: undefined }],
    ["an unknown scope", { scope: "all" }],
    ["no permitted operations", { scope: undefined }],
    ["no bucket", { bucket: undefined }],
  ])("are refused for %s", async (_what, claims) => {
    const keys = signed({ bucket, scope: "object-read-write", ...claims });
    expect(await attempt(keys, "GET", `${bucket}/table/b`)).toBe("400 InvalidToken");
  });
});
