import { cloudflarePlugin } from "../../../emulators/plugins/cloudflare/plugin.ts";
import type { Plugin } from "../../../emulators/plugins/protocol.ts";
import { Faults } from "../../../emulators/faults.ts";
import { accountId, administrator, startCloudflare, type TestCloudflare } from "./support.ts";

let faults: Faults;
let cloudflare: TestCloudflare;
let printed: string[];

beforeAll(async () => {
  faults = new Faults();
  cloudflare = await startCloudflare({ buckets: ["lakehouse"], faults });
});
afterAll(() => cloudflare.stop());
beforeEach(() => {
  faults.clear();
  printed = [];
});

function makePlugin(environment: Record<string, string> = {}): Plugin {
  const plugin = cloudflarePlugin({
    version: "6.22.1",
    log: async (severity, message) => void printed.push(`${severity}: ${message}`),
    environment: { CLOUDFLARE_API_TOKEN: administrator.value, ...environment },
    patience: 0,
  });
  plugin.configure({ args: environment["CLOUDFLARE_BASE_URL"] === undefined ? { baseUrl: baseUrl() } : {} });
  return plugin;
}

const baseUrl = () => `${cloudflare.url}/client/v4`;

function resource(name: string) {
  const type = `cloudflare:index/${name.charAt(0).toLowerCase()}${name.slice(1)}:${name}`;
  return { urn: `urn:pulumi:dev::p::${type}::r`, name: "r", type };
}

const bucket = resource("R2Bucket");
const inputs = { accountId, name: "made" };

test("the address of the API can come from the environment", async () => {
  const plugin = makePlugin({ CLOUDFLARE_BASE_URL: `${baseUrl()}/` });
  const made = await plugin.create({ ...bucket, properties: inputs });
  expect(made).toMatchObject({ id: "made", properties: { location: "WEUR", storageClass: "Standard" } });
  await plugin.delete({ ...bucket, id: "made", properties: made.properties });
});

test("nothing is asked in a preview", async () => {
  faults.add("* /*, status 500");
  const made = await makePlugin().create({ ...bucket, properties: inputs, preview: true });
  expect(made).toEqual({
    properties: {
      ...{ accountId, name: "made", jurisdiction: "default", storageClass: "Standard" },
      ...Object.fromEntries(
        ["creationDate", "id", "location"].map((name) => [name, "04da6b54-80e4-46f7-96ec-b56ff0331ba9"]),
      ),
    },
  });
});

test("what may pass is tried again, ten times", async () => {
  const plugin = makePlugin();
  const { properties } = await plugin.create({ ...bucket, properties: inputs });
  faults.add("DELETE /client/v4/*, status 503, first 10");
  await plugin.delete({ ...bucket, id: "made", properties });
  const again = await plugin.create({ ...bucket, properties: inputs });
  faults.add("DELETE /client/v4/*, status 503, first 11");
  await expect(plugin.delete({ ...bucket, id: "made", properties: again.properties })).rejects.toThrow(
    "503 Service Unavailable",
  );
  await plugin.delete({ ...bucket, id: "made", properties: again.properties });
});

test("an import finds what is there, by an id of the right form", async () => {
  const plugin = makePlugin();
  const read = (id: string) => plugin.read({ ...bucket, id });
  expect(await read(`${accountId}/lakehouse/default`)).toMatchObject({
    id: "lakehouse",
    inputs: { accountId, name: "lakehouse", jurisdiction: "default", location: "WEUR", storageClass: "Standard" },
  });
  expect(await read(`${accountId}/nowhere/default`)).toEqual({ properties: {}, inputs: {} });
  await expect(read("lakehouse")).rejects.toThrow(
    'invalid ID: expected urlencoded segments "<account_id>/<bucket_name>/<jurisdiction>", got "lakehouse"',
  );
  expect(printed.at(-1)).toMatch(/^error: \[ERROR\] expected urlencoded .*: invalid ID$/);
});

test("an import of a token does not bring its value", async () => {
  const token = resource("AccountToken");
  const plugin = makePlugin();
  const made = await plugin.create({ ...token, properties: { accountId, name: "t", policies: [] } });
  expect(made.properties).toHaveProperty("value");
  const imported = await plugin.read({ ...token, id: `${accountId}/${made.id}` });
  expect(imported.id).toBe(made.id);
  expect(imported.properties).not.toHaveProperty("value");
});

test.each([
  [
    "R2BucketLifecycle",
    [
      {
        ...{ id: "old", enabled: true, conditions: { prefix: "tmp/" } },
        deleteObjectsTransition: { condition: { type: "Age", maxAge: 86_400 } },
      },
    ],
  ],
  ["R2BucketLock", [{ id: "kept", enabled: true, condition: { type: "Indefinite" } }]],
])("the rules of %s are kept, read back without a change, and replaced as a whole", async (type, rules) => {
  const plugin = makePlugin();
  const given = { accountId, bucketName: "lakehouse", rules };
  expect(await plugin.check({ ...resource(type), olds: {}, news: given })).toEqual({ inputs: given });
  const { id, properties } = await plugin.create({ ...resource(type), properties: given });
  const found = await plugin.read({ ...resource(type), id: id!, properties, inputs: given });
  expect(found.inputs).toEqual(given);
  expect(await plugin.diff({ ...resource(type), id: id!, olds: found.properties, news: given })).toEqual({
    changes: "DIFF_NONE",
  });
  const news = { ...given, rules: [] };
  await plugin.update({ ...resource(type), id: id!, olds: properties, news });
  const emptied = await plugin.read({ ...resource(type), id: id!, properties, inputs: given });
  expect(emptied.properties["rules"]).toEqual([]);
});

test.each([
  ["an unknown input", { ...inputs, region: "auto" }, "There is no attribute region."],
  ["a missing one", { accountId }, "The attribute name is required."],
  ["a value of another type", { accountId, name: 1 }, "name must be a string."],
  ["a value out of the list", { ...inputs, storageClass: "Cold" }, '["Standard" "InfrequentAccess"], got: "Cold"'],
])("%s is refused", async (_what, news, reason) => {
  const { failures } = await makePlugin().check({ ...bucket, olds: {}, news });
  expect(failures).toEqual([{ reason: expect.stringContaining(reason) as string }]);
});

test("an input that the stand-in does not have is refused, not ignored", async () => {
  const news = { accountId, scriptName: "s", content: "", mainModule: "m", assets: { directory: "." } };
  const { failures } = await makePlugin().check({ ...resource("WorkersScript"), olds: {}, news });
  expect(failures).toEqual([{ reason: expect.stringContaining("does not take assets") as string }]);
});

test("what becomes known later is not refused, and is a change", async () => {
  const later = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
  const plugin = makePlugin();
  const news = { accountId: later, name: "made", location: later };
  expect(await plugin.check({ ...bucket, olds: {}, news })).toEqual({ inputs: news });
  const olds = { accountId, name: "made", location: "WEUR", jurisdiction: "default", storageClass: "Standard" };
  expect(await plugin.diff({ ...bucket, id: "made", olds, news })).toMatchObject({
    replaces: ["accountId", "location"],
  });
});

test("a Worker's own domain is attached, moved by an update, and detached", async () => {
  const domain = resource("WorkersCustomDomain");
  const plugin = makePlugin();
  const script = { accountId, scriptName: "issuer", mainModule: "w.mjs", compatibilityDate: "2026-01-01" };
  const content = 'export default { fetch: () => new Response("x") };';
  await plugin.create({ ...resource("WorkersScript"), properties: { ...script, content } });
  const given = { accountId, hostname: "issuer.example.com", service: "issuer", zoneId: cloudflare.zones[0]!.id };
  expect(await plugin.check({ ...domain, olds: {}, news: given })).toEqual({ inputs: given });
  const { id, properties } = await plugin.create({ ...domain, properties: given });
  expect(properties).toMatchObject({ ...given, environment: "production", zoneName: "example.com" });
  const found = await plugin.read({ ...domain, id: id!, properties, inputs: given });
  expect(await plugin.diff({ ...domain, id: id!, olds: found.properties, news: given })).toEqual({
    changes: "DIFF_NONE",
  });
  await plugin.delete({ ...domain, id: id!, properties });
  expect(await plugin.read({ ...domain, id: id!, properties, inputs: given })).toEqual({ properties: {}, inputs: {} });
  const { failures } = await plugin.check({ ...domain, olds: {}, news: { ...given, port: 443 } });
  expect(failures).toEqual([{ reason: expect.stringContaining("There is no attribute port.") as string }]);
});
