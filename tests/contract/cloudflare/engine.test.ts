import { join } from "node:path";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { resourceCounts } from "../../support/checkout.ts";
import { refusal, s3Client } from "../r2/support.ts";
import { makeProgram, type Program } from "./program.ts";
import { accountId, administrator, startCloudflare, type TestCloudflare } from "./support.ts";

/*
 * The real engine, with the stand-in for the plugin on its PATH, on the stand-in for Cloudflare's account: what a stack
 * of this project makes there.
 */

const plugins = join(process.cwd(), "emulators/plugins/bin");

let cloudflare: TestCloudflare;
let program: Program;

beforeAll(async () => {
  cloudflare = await startCloudflare({ buckets: ["before"] });
  program = await makeProgram(plugins, {
    CLOUDFLARE_API_TOKEN: administrator.value,
    CLOUDFLARE_BASE_URL: `${cloudflare.url}/client/v4`,
    ACCOUNT_ID: accountId,
    ZONE_ID: cloudflare.zones[0]!.id,
  });
}, 600_000);

afterAll(async () => {
  await program.remove();
  await cloudflare.stop();
});

interface Changes {
  storageClass?: string;
  answer?: string;
  bucket?: string;
}

function source({ storageClass = "Standard", answer = "hi", bucket = "lakehouse" }: Changes = {}): string {
  return `
import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import * as cloudflare from "@pulumi/cloudflare";
const accountId = process.env.ACCOUNT_ID;
const bucket = new cloudflare.R2Bucket("bucket", {
  accountId, name: "${bucket}", location: "weur", storageClass: "${storageClass}",
});
const groups = cloudflare.getAccountApiTokenPermissionGroupsListOutput({
  accountId, name: "Workers R2 Storage Write", scope: "com.cloudflare.api.account",
});
const token = new cloudflare.AccountToken("token", {
  accountId,
  name: pulumi.interpolate\`lakekeeper on \${bucket.name}\`,
  policies: [{
    effect: "allow",
    permissionGroups: [{ id: groups.results[0].id }],
    resources: JSON.stringify({ ["com.cloudflare.api.account." + accountId]: "*" }),
  }],
});
const worker = new cloudflare.WorkersScript("worker", {
  accountId, scriptName: "issuer", mainModule: "worker.mjs", compatibilityDate: "2026-01-01",
  observability: { enabled: false },
  content: 'export default { fetch: () => new Response("${answer}") };',
});
new cloudflare.WorkersScriptSubdomain("subdomain", { accountId, scriptName: worker.scriptName, enabled: true });
new cloudflare.DnsRecord("record", {
  zoneId: process.env.ZONE_ID, name: "lake.example.com", type: "CNAME", content: "x.up.railway.app", ttl: 1,
});
new cloudflare.DnsRecord("text", {
  zoneId: process.env.ZONE_ID, name: "_token.example.com", type: "TXT", content: token.id, ttl: 60,
});
export const accessKeyId = token.id;
export const secretAccessKey = token.value.apply((value) => createHash("sha256").update(value).digest("hex"));
`;
}

async function succeeds(command: Parameters<Program["pulumi"]>[0], text?: string): Promise<string> {
  const { code, output } = await program.pulumi(command, text);
  if (code !== 0) throw new Error(output);
  return output;
}

test("a preview makes nothing, and knows what is known", async () => {
  const output = await succeeds("preview", source());
  expect(resourceCounts(output)).toEqual({ create: 7 });
  expect(output).toContain('name     : "lakekeeper on lakehouse"');
  expect(output).toMatch(/content: \[unknown\]\s+name {3}: "_token\.example\.com"/);
  const { result } = await cloudflare.call("GET", `/accounts/${accountId}/r2/buckets`);
  expect((result["buckets"] as { name: string }[]).map(({ name }) => name)).toEqual(["before"]);
});

test("up makes it all, and it works", async () => {
  expect(resourceCounts(await succeeds("up"))).toEqual({ created: 7 });
  const { accessKeyId, secretAccessKey } = (await program.outputs()) as Record<string, string>;
  const keys = { accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey! };
  const put = new PutObjectCommand({ Bucket: "lakehouse", Key: "k", Body: "x" });
  expect(await refusal(s3Client(cloudflare, keys).send(put))).toBe("accepted");
  expect(await (await fetch(`${cloudflare.url}/-/workers/issuer/`)).text()).toBe("hi");
});

test("only the token's value is a secret", async () => {
  const state = await program.state();
  const token = state.find(({ type }) => type === "cloudflare:index/accountToken:AccountToken")!;
  expect(token.outputs["value"]).toHaveProperty("ciphertext");
  expect(token.outputs["id"]).toMatch(/^[0-9a-f]{32}$/);
  expect(state.map(({ id }) => id)).toEqual(expect.arrayContaining(["lakehouse", "issuer", accountId]));
});

test("a second up changes nothing, nor does one after a refresh", async () => {
  expect(resourceCounts(await succeeds("up"))).toEqual({ unchanged: 7 });
  expect(resourceCounts(await succeeds("refresh"))).toEqual({ unchanged: 7 });
  expect(resourceCounts(await succeeds("up"))).toEqual({ unchanged: 7 });
});

test("changes are made in place", async () => {
  const changed = source({ storageClass: "InfrequentAccess", answer: "changed" });
  expect(resourceCounts(await succeeds("up", changed))).toEqual({ updated: 2, unchanged: 5 });
  expect(await (await fetch(`${cloudflare.url}/-/workers/issuer/`)).text()).toBe("changed");
  const { result } = await cloudflare.call("GET", `/accounts/${accountId}/r2/buckets/lakehouse`);
  expect(result["storage_class"]).toBe("InfrequentAccess");
});

test("what somebody has deleted is seen by a refresh and made again", async () => {
  const listed = await cloudflare.call("GET", `/zones/${cloudflare.zones[0]!.id}/dns_records?type=CNAME`);
  const [record] = listed.result as unknown as { id: string }[];
  await cloudflare.call("DELETE", `/zones/${cloudflare.zones[0]!.id}/dns_records/${record!.id}`);
  expect(await succeeds("refresh")).toContain(
    "The resource was not found on the server and will be removed from state.",
  );
  expect(resourceCounts(await succeeds("up"))).toEqual({ created: 1, unchanged: 6 });
});

test("an error says what was asked and what was answered", async () => {
  const { code, output } = await program.pulumi("up", source({ bucket: "before" }));
  expect(code).not.toBe(0);
  expect(output).toContain(
    `error: failed to make http request: POST "${cloudflare.url}/client/v4/accounts/${accountId}/r2/buckets": ` +
      '409 Conflict {"success":false,"errors":[{"code":10004,"message":"The bucket you tried to create already exists, and you own it."}]',
  );
});

test("destroy removes it all but a bucket that holds something", async () => {
  const { code, output } = await program.pulumi("destroy");
  expect(code).not.toBe(0);
  expect(output).toContain('"code":10008,"message":"The bucket you tried to delete is not empty."');
  await succeeds("up", source({ storageClass: "InfrequentAccess" }));
});

test("a wrong input is refused in a preview", async () => {
  const { code, output } = await program.pulumi(
    "preview",
    `import * as cloudflare from "@pulumi/cloudflare";
     new cloudflare.AccountToken("t", { accountId: "a", name: "n", policies: [{ effect: "maybe", group: 1 }] });`,
  );
  expect(code).not.toBe(0);
  expect(output).toContain('Attribute policies[0].effect value must be one of: ["allow" "deny"], got: "maybe"');
  expect(output).toContain("There is no attribute policies[0].group.");
});
