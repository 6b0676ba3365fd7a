import { request } from "undici";
import { createHash } from "node:crypto";
import { s3Client, refusal } from "../r2/support.ts";
import { PutObjectCommand, GetObjectCommand } from "@aws-sdk/client-s3";
import { accountId, administrator, startCloudflare, workerForm, type TestCloudflare } from "./support.ts";

const account = `/accounts/${accountId}`;
let cloudflare: TestCloudflare;

beforeAll(async () => {
  cloudflare = await startCloudflare({ buckets: ["lakehouse"], jurisdictions: { eu: {} } });
});
afterAll(() => cloudflare.stop());
afterEach(() => {
  cloudflare.clock.offset = 0;
});

async function groupId(name: string): Promise<string> {
  const query = new URLSearchParams({ name });
  const { result } = await cloudflare.call("GET", `${account}/tokens/permission_groups?${query.toString()}`);
  return (result as unknown as { id: string }[])[0]!.id;
}

async function policy(group: string, resource = `com.cloudflare.api.account.${accountId}`): Promise<object> {
  return { effect: "allow", permission_groups: [{ id: await groupId(group) }], resources: { [resource]: "*" } };
}

async function createToken(policies: object[], more: object = {}): Promise<{ id: string; value: string }> {
  const { status, result } = await cloudflare.call("POST", `${account}/tokens`, {
    body: { name: "t", policies, ...more },
  });
  expect(status).toBe(200);
  return result as { id: string; value: string };
}

function keysOf({ id, value }: { id: string; value: string }) {
  return { accessKeyId: id, secretAccessKey: createHash("sha256").update(value).digest("hex") };
}

const put = (key = "k", bucket = "lakehouse") => new PutObjectCommand({ Bucket: bucket, Key: key, Body: "x" });
const read = (key = "k") => new GetObjectCommand({ Bucket: "lakehouse", Key: key });

describe("an API token", () => {
  test("is an S3 key from its creation to its deletion, and so are its children", async () => {
    const token = await createToken([await policy("Workers R2 Storage Write")]);
    expect(await refusal(s3Client(cloudflare, keysOf(token)).send(put()))).toBe("accepted");
    const { result } = await cloudflare.call("POST", `${account}/r2/temp-access-credentials`, {
      token: token.value,
      body: { bucket: "lakehouse", parentAccessKeyId: token.id, permission: "object-read-only", ttlSeconds: 900 },
    });
    const child = s3Client(cloudflare, result as never);
    expect(await refusal(child.send(read()))).toBe("accepted");
    expect((await cloudflare.call("DELETE", `${account}/tokens/${token.id}`)).result).toEqual({ id: token.id });
    expect(await refusal(child.send(read()))).toBe("Unauthorized 401");
    expect(await refusal(s3Client(cloudflare, keysOf(token)).send(read()))).toBe("Unauthorized 401");
  });

  test("shows its value once", async () => {
    const { id, value } = await createToken([await policy("Workers R2 Storage Read")]);
    expect(value).toMatch(/^[\w-]{40}$/);
    const { result, text } = await cloudflare.call("GET", `${account}/tokens/${id}`);
    expect(result).toMatchObject({ id, status: "active", name: "t" });
    expect(text).not.toContain(value);
    expect((await cloudflare.call("GET", `${account}/tokens`)).text).not.toContain(value);
  });

  test("of a bucket reaches that bucket, and may do what its group says until it is changed", async () => {
    await cloudflare.call("POST", `${account}/r2/buckets`, { body: { name: "other" } });
    const resource = `com.cloudflare.edge.r2.bucket.${accountId}_default_lakehouse`;
    const token = await createToken([await policy("Workers R2 Storage Bucket Item Write", resource)]);
    const s3 = s3Client(cloudflare, keysOf(token));
    expect(await refusal(s3.send(put()))).toBe("accepted");
    expect(await refusal(s3.send(put("k", "other")))).toBe("AccessDenied 403");
    const policies = [await policy("Workers R2 Storage Bucket Item Read", resource)];
    await cloudflare.call("PUT", `${account}/tokens/${token.id}`, { body: { name: "t", policies } });
    expect(await refusal(s3.send(put()))).toBe("AccessDenied 403");
    expect(await refusal(s3.send(read()))).toBe("accepted");
  });

  test("ends when it expires", async () => {
    const expires = new Date(Date.now() + 3600_000).toISOString().replace(/\.\d+/, "");
    const token = await createToken([await policy("Workers R2 Storage Write")], { expires_on: expires });
    const verify = () => cloudflare.call("GET", `${account}/tokens/verify`, { token: token.value });
    expect(await verify()).toMatchObject({ status: 200, result: { id: token.id, status: "active" } });
    cloudflare.clock.offset = 7200;
    expect(await verify()).toMatchObject({ status: 403, code: 10000 });
    expect((await cloudflare.call("GET", `${account}/tokens/${token.id}`)).result["status"]).toBe("expired");
  });

  test("may do only what its groups allow", async () => {
    const { value: token } = await createToken([await policy("Workers R2 Storage Read")]);
    const attempt = async (method: string, path: string, body?: unknown) => {
      const { status, code, message } = await cloudflare.call(method, path, { token, body });
      return [status, code, message];
    };
    const unauthorized = [403, 9109, "Unauthorized to access requested resource"];
    const unauthenticated = [403, 10000, "Authentication error"];
    expect(await attempt("GET", `${account}/r2/buckets/lakehouse`)).toEqual([200, undefined, undefined]);
    expect(await attempt("POST", `${account}/r2/buckets`, { name: "third" })).toEqual(unauthenticated);
    expect(await attempt("POST", `${account}/tokens`, {})).toEqual(unauthorized);
    expect(await attempt("GET", `${account}/tokens/permission_groups`)).toEqual(unauthorized);
    expect(await attempt("GET", `${account}/workers/subdomain`)).toEqual(unauthenticated);
    expect(await attempt("GET", `/zones/${cloudflare.zones[0]!.id}/dns_records`)).toEqual(unauthenticated);
  });

  test("without R2's groups is no S3 key", async () => {
    const token = await createToken([await policy("Workers Scripts Read")]);
    expect(await refusal(s3Client(cloudflare, keysOf(token)).send(read()))).toBe("AccessDenied 403");
  });

  test.each([
    ["a group that there is not", { permission_groups: [{ id: "x" }] }, "Invalid permission group id"],
    [
      "another account",
      { resources: { ["com.cloudflare.api.account." + "f".repeat(32)]: "*" } },
      "no resource of this",
    ],
    [
      "a bucket, with a group for accounts",
      { resources: { [`com.cloudflare.edge.r2.bucket.${accountId}_default_b`]: "*" } },
      "is for com.cloudflare.api.account",
    ],
    ["nothing", { resources: {} }, "resources must not be empty"],
  ])("cannot be made for %s", async (_what, change, message) => {
    const body = { name: "t", policies: [{ ...(await policy("Workers R2 Storage Write")), ...change }] };
    const answer = await cloudflare.call("POST", `${account}/tokens`, { body });
    expect(answer).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining(message) as string });
  });
});

describe("a bucket", () => {
  const buckets = `${account}/r2/buckets`;

  test("is there for S3 as soon as it is made, and not deleted while it holds anything", async () => {
    const made = await cloudflare.call("POST", buckets, { body: { name: "made", locationHint: "eeur" } });
    expect(made.result).toMatchObject({
      name: "made",
      location: "EEUR",
      storage_class: "Standard",
      jurisdiction: "default",
    });
    const s3 = s3Client(cloudflare, keysOf(administrator));
    expect(await refusal(s3.send(put("k", "made")))).toBe("accepted");
    expect(await cloudflare.call("DELETE", `${buckets}/made`)).toMatchObject({ status: 409, code: 10008 });
    expect(await cloudflare.call("POST", buckets, { body: { name: "made" } })).toMatchObject({
      status: 409,
      code: 10004,
    });
  });

  test("is in its jurisdiction alone", async () => {
    const headers = { "cf-r2-jurisdiction": "eu" };
    const made = await cloudflare.call("POST", buckets, { headers, body: { name: "european" } });
    expect(made.result["jurisdiction"]).toBe("eu");
    expect(await cloudflare.call("GET", `${buckets}/european`)).toMatchObject({ status: 404, code: 10006 });
    expect(
      await refusal(
        s3Client({ ...cloudflare, url: cloudflare.jurisdictions.eu! }, keysOf(administrator)).send(
          put("k", "european"),
        ),
      ),
    ).toBe("accepted");
    const elsewhere = { "cf-r2-jurisdiction": "fedramp" };
    expect((await cloudflare.call("POST", buckets, { headers: elsewhere, body: { name: "abc" } })).message).toContain(
      "without an endpoint for fedramp",
    );
  });
});

describe("a Worker", () => {
  const script = `${account}/workers/scripts/issuer`;
  const source = `export default {
    async fetch(request, env) {
      const { pathname } = new URL(request.url);
      if (pathname === "/boom") throw new Error("boom");
      return Response.json({ pathname, method: request.method, body: await request.text(), env });
    },
  };`;
  const at = (path: string, init: RequestInit = {}) => fetch(`${cloudflare.url}/-/workers/issuer${path}`, init);

  test("is served once its subdomain is on, with its bindings", async () => {
    const bindings = [{ name: "KEY", type: "secret_text", text: "s" }];
    const uploaded = await cloudflare.call("PUT", script, { body: workerForm(source, { bindings }) });
    expect(uploaded.result).toMatchObject({ id: "issuer", handlers: ["fetch"], has_modules: true });
    expect((await at("/a")).status).toBe(404);
    await cloudflare.call("POST", `${script}/subdomain`, { body: { enabled: true } });
    const answer = await at("/a/b?c", { method: "POST", body: "sent" });
    expect(await answer.json()).toEqual({ pathname: "/a/b", method: "POST", body: "sent", env: { KEY: "s" } });
    expect((await at("/boom")).status).toBe(500);
    const { result } = await cloudflare.call("GET", `${script}/settings`);
    expect(result["bindings"]).toEqual([{ name: "KEY", type: "secret_text" }]);
  });

  test("is served at a domain of its own, which leads to one Worker", async () => {
    const domains = `${account}/workers/domains`;
    const [zone] = cloudflare.zones;
    const hostname = "issuer.example.com";
    const { result: made } = await cloudflare.call("PUT", domains, { body: { hostname, service: "issuer" } });
    expect(made).toEqual({
      ...{ id: expect.stringMatching(/^[0-9a-f]{32}$/) as string, hostname, service: "issuer" },
      ...{ environment: "production", zone_id: zone!.id, zone_name: "example.com" },
    });
    // By its own host name, as nothing on this machine resolves it.
    const { body, statusCode } = await request(`${cloudflare.url}/x`, { headers: { host: hostname } });
    expect([statusCode, await body.json()]).toEqual([200, expect.objectContaining({ pathname: "/x" })]);
    await cloudflare.call("PUT", `${account}/workers/scripts/other`, { body: workerForm(source) });
    await cloudflare.call("PUT", domains, { body: { hostname, service: "other", zone_id: zone!.id } });
    const one = `${domains}/${String(made["id"])}`;
    expect((await cloudflare.call("GET", one)).result).toEqual({ ...made, service: "other" });
    expect((await cloudflare.call("GET", `${domains}?hostname=${hostname}`)).result).toHaveLength(1);
    expect((await cloudflare.call("DELETE", one)).status).toBe(200);
    expect(await cloudflare.call("GET", one)).toMatchObject({ status: 404, code: 10007 });
  });

  test.each([
    ["of a script that is not there", { service: "nobody" }, 404, 10007],
    ["outside the account's zones", { hostname: "issuer.example.org" }, 400, 10082],
    ["in another zone than the one named", { zone_name: "example.org" }, 400, 10082],
    ["with a field that is not known", { zone: "x" }, 400, 10040],
    ["that DNS records lead elsewhere", { hostname: "taken.example.com" }, 409, 100117],
  ])("is given no domain %s", async (_what, change, status, code) => {
    const records = `/zones/${cloudflare.zones[0]!.id}/dns_records`;
    const taken = { name: "taken.example.com", type: "A", content: "192.0.2.1", ttl: 1, proxied: false };
    await cloudflare.call("POST", records, { body: taken });
    const body = { hostname: "issuer.example.com", service: "issuer", ...change };
    expect(await cloudflare.call("PUT", `${account}/workers/domains`, { body })).toMatchObject({ status, code });
  });

  test("goes on as it was when its new module cannot be loaded", async () => {
    const answer = await cloudflare.call("PUT", script, { body: workerForm("exp ort;") });
    expect(answer).toMatchObject({ status: 400, code: 10021 });
    expect(answer.message).toMatch(/^Uncaught SyntaxError: /);
    const idle = await cloudflare.call("PUT", script, { body: workerForm("export default {};") });
    expect(idle).toMatchObject({ status: 400, code: 10068 });
    expect(await (await at("/still")).json()).toMatchObject({ pathname: "/still" });
    await cloudflare.call("PUT", script, { body: workerForm('export default { fetch: () => new Response("new") };') });
    expect(await (await at("/")).text()).toBe("new");
  });

  test("is gone when it is deleted", async () => {
    expect((await cloudflare.call("DELETE", script)).status).toBe(200);
    expect((await at("/")).status).toBe(404);
    expect(await cloudflare.call("DELETE", script)).toMatchObject({ status: 404, code: 10007 });
  });
});

describe("a DNS record", () => {
  const record = { name: "lake.example.com", type: "CNAME", content: "x.up.railway.app", ttl: 1, proxied: false };
  const records = () => `/zones/${cloudflare.zones[0]!.id}/dns_records`;

  test.each([
    ["outside the zone", { name: "lake.example.org" }, 9000],
    ["that is no address", { type: "A", content: "x" }, 9005],
    ["without content", { content: undefined }, 9005],
    ["of a TTL out of range", { ttl: 5 }, 9000],
    ["proxied text", { type: "TXT", content: '"x"', proxied: true }, 9004],
  ])("is refused %s", async (_what, change, code) => {
    const answer = await cloudflare.call("POST", records(), { body: { ...record, ...change } });
    expect([answer.status, answer.code]).toEqual([400, code]);
  });

  test("is kept once, and not beside another for the same host", async () => {
    const { result } = await cloudflare.call("POST", records(), { body: record });
    expect(await cloudflare.call("POST", records(), { body: record })).toMatchObject({ status: 400, code: 81058 });
    const address = { ...record, type: "A", content: "192.0.2.1" };
    expect(await cloudflare.call("POST", records(), { body: address })).toMatchObject({ status: 400, code: 81053 });
    await cloudflare.call("DELETE", `${records()}/${String(result["id"])}`);
    expect(await cloudflare.call("POST", records(), { body: address })).toMatchObject({ status: 200 });
    const listed = await cloudflare.call("GET", `${records()}?name=lake.example.com`);
    expect(listed.result).toMatchObject([{ type: "A", content: "192.0.2.1" }]);
  });
});
