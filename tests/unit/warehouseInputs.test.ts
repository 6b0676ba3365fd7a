import warehouse from "../../providers/warehouse.provider.ts";
import type { WarehouseInputs } from "../../providers/warehouse.converge.ts";
import {
  credentialHash,
  immutableDifferences,
  locationOf,
  normalProfile,
  profileFromWire,
  profileToWire,
} from "../../providers/warehouse.profile.ts";

const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

const profile = { bucket: "lakehouse", region: "auto", endpoint: "https://acc.r2.cloudflarestorage.com" };
const inputs: WarehouseInputs = {
  connection: { uri: "http://127.0.0.1:8181", identity: { kind: "none" } },
  name: "lakehouse",
  storageProfile: profile,
  storageCredential: {
    type: "cloudflare-r2",
    accountId: "acc",
    accessKeyId: "id",
    secretAccessKey: "hush",
    token: "hush",
  },
};

async function failures(changes: object, profileChanges: object = {}): Promise<string[]> {
  const news = { ...inputs, storageProfile: { ...profile, ...profileChanges }, ...changes };
  return (await warehouse.check({}, news)).failures.map(({ reason }) => reason);
}

test("good inputs pass", async () => {
  expect(await failures({})).toEqual([]);
  expect(await failures({ deleteProfile: { type: "soft", expirationSeconds: 60 }, protected: true })).toEqual([]);
  expect(await failures({}, { stsTokenValiditySeconds: 604_800, keyPrefix: "warehouse" })).toEqual([]);
});

test.each([
  [{ stsTokenValiditySeconds: 0 }, "storageProfile.stsTokenValiditySeconds must be 1 to 604800 seconds, not 0"],
  [
    { stsTokenValiditySeconds: 604_801 },
    "storageProfile.stsTokenValiditySeconds must be 1 to 604800 seconds, not 604801",
  ],
  [
    { stsTokenValiditySeconds: "3600" },
    'storageProfile.stsTokenValiditySeconds must be a whole number of seconds, not "3600"',
  ],
  [
    { bucket: "Bad_Bucket" },
    'storageProfile.bucket must be a bucket\'s name: 3 to 63 lowercase letters, digits, dots and hyphens, not "Bad_Bucket"',
  ],
  [
    { endpoint: "acc.r2.cloudflarestorage.com" },
    'storageProfile.endpoint must be the http(s) URL of the S3 API, such as https://<account>.r2.cloudflarestorage.com, not "acc.r2.cloudflarestorage.com"',
  ],
  [
    { endpoint: "https://acc.r2.cloudflarestorage.com/other" },
    'storageProfile.endpoint must be the URL of the S3 API alone, without bucket, prefix or another path, not "https://acc.r2.cloudflarestorage.com/other"',
  ],
  [{ region: "" }, "storageProfile.region must not be empty"],
  [
    { keyPrefix: "s3://lakehouse/warehouse" },
    'storageProfile.keyPrefix must be a path inside the bucket, such as "warehouse", not "s3://lakehouse/warehouse"',
  ],
  [
    { remoteSigningUrlStyle: "path-style" },
    'storageProfile.remoteSigningUrlStyle must be auto, path or virtual_host, not "path-style"',
  ],
])("%j is refused", async (change, words) => {
  expect(await failures({}, change)).toEqual([words]);
});

test("every problem is reported at once, and no secret is shown", async () => {
  const storageCredential = {
    type: "cloudflare-r2",
    accountId: "acc",
    accessKeyId: "id",
    secretAccessKey: "hush",
    token: "",
  };
  expect(
    await failures({ name: "a/b", storageCredential, deleteProfile: { type: "soft", expirationSeconds: 0 } }),
  ).toEqual([
    'name must be a name without a slash, not "a/b"',
    "storageCredential.token must not be empty",
    "deleteProfile.expirationSeconds must be 1 or more, not 0",
  ]);
  expect(await failures({ storageCredential: { type: "r2", token: "hush" } })).toEqual([
    "storageCredential.type must be of type cloudflare-r2 or access-key",
  ]);
});

test("what is not known yet is not judged, and counts as a change", async () => {
  expect(await failures({ storageCredential: UNKNOWN, connection: UNKNOWN })).toEqual([]);
  expect(await failures({}, { endpoint: UNKNOWN, bucket: UNKNOWN })).toEqual([]);
  const olds = {
    ...inputs,
    warehouseId: "id",
    status: "active" as const,
    credentialHash: credentialHash(inputs.storageCredential),
  };
  expect(await warehouse.diff("id", olds, inputs)).toEqual({ changes: false });
  const news = { ...inputs, storageProfile: { ...profile, endpoint: UNKNOWN } };
  expect(await warehouse.diff("id", olds, news)).toEqual({ changes: true });
});

test("a profile survives the way through the server, which adds defaults and a slash", () => {
  const wire = { type: "s3", ...profileToWire({ ...profile, keyPrefix: "/a/b/" }) };
  const answer = {
    ...wire,
    endpoint: "https://acc.r2.cloudflarestorage.com/",
    "assume-role-arn": null,
    "storage-layout": null,
  };
  expect(profileFromWire(answer)).toEqual(normalProfile({ ...profile, keyPrefix: "a/b" }));
});

test("what the server leaves null stands for its own defaults, which are not ours", () => {
  const normal = profileFromWire({
    type: "s3",
    bucket: "lakehouse",
    region: "auto",
    endpoint: "http://127.0.0.1:9000/",
  });
  expect(normal).toMatchObject({ pathStyleAccess: false, remoteSigningEnabled: true, remoteSigningUrlStyle: "auto" });
  expect(profileFromWire({ type: "gcs", bucket: "lakehouse" })).toBeUndefined();
});

test("the location is the bucket, or the prefix in it", () => {
  expect(locationOf(normalProfile(profile))).toBe("s3://lakehouse");
  expect(locationOf(normalProfile({ ...profile, keyPrefix: "/warehouse/" }))).toBe("s3://lakehouse/warehouse");
});

test("only bucket and prefix are immutable, however they are spelled", () => {
  expect(
    immutableDifferences({ ...profile, keyPrefix: "a" }, { ...profile, keyPrefix: "/a/", region: "weur" }),
  ).toEqual([]);
  expect(immutableDifferences(profile, { ...profile, keyPrefix: "a" })).toEqual([
    { field: "keyPrefix", from: "", to: "a" },
  ]);
});

test("the hash of a credential tells every change of it, whatever the order of its fields", () => {
  const credential = { type: "access-key", accessKeyId: "id", secretAccessKey: "hush" } as const;
  expect(credentialHash({ secretAccessKey: "hush", accessKeyId: "id", type: "access-key" })).toBe(
    credentialHash(credential),
  );
  const others = [
    { ...credential, accessKeyId: "di" },
    { ...credential, secretAccessKey: "hash" },
    inputs.storageCredential,
  ];
  expect(new Set([credential, ...others].map(credentialHash)).size).toBe(4);
});
