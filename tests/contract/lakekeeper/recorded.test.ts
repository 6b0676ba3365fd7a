import { type JWTPayload } from "jose";
import { isObject, type Json, type JsonObject, stringifyJson } from "../../../emulators/lakekeeper/http/json.ts";
import { type RunningServer, startLakekeeper } from "../../../emulators/lakekeeper/server.ts";
import { S3Client } from "../../../emulators/lakekeeper/storage/s3.ts";
import { differences, readRecording, type RecordedCall, recordingsPresent, send, Translation } from "./recording.ts";
import { startWorld, type World } from "./world.ts";

/** Recorded calls that get another answer here, and why. */
const exceptions: Record<string, string> = {
  "http 18: R2 credential, bucket does not exist": "the text of the storage, which R2 ends with a full stop",
  "lifecycle 4: sts-token-validity-seconds zero": "R2 here does not mint keys that live for 0 seconds",
  "lifecycle 65: list warehouses (default: active)": "contains the warehouse of call 4",
  "lifecycle 53: update storage: credential omitted":
    "R2 refuses the unsigned write already, the recording's storage only the HEAD after it",
};

const token = (name: string, claims: JWTPayload = {}): { name: string; claims: JWTPayload } => ({ name, claims });

/** Whose token a recorded call with `authorization` carried; tokens themselves were not recorded. */
function bearerOf(call: RecordedCall): { name: string; claims: JWTPayload } | "garbage" {
  const name = call.name ?? "";
  if (name.includes("garbage")) return "garbage";
  if (name.includes("wrong audience")) return token("operator", { aud: "another-service" });
  if (name.includes("expired")) return token("operator", { exp: 1_700_000_000 });
  const who = /other client|another client|never registered/.test(name) ? "other-client" : "operator";
  // Keycloak's tokens for a service account have no name.
  return token(who, { name: undefined, preferred_username: `service-account-${who}` });
}

/** The recording's storage and its keys, as they are here. */
function storageHere(world: World): (body: JsonObject) => JsonObject {
  return (body) => {
    const result = { ...body };
    for (const key of ["storage-credential", "new-storage-credential"]) {
      const credential = result[key];
      if (!isObject(credential)) continue;
      result[key] = {
        ...credential,
        "access-key-id": world.accessKeyId,
        "secret-access-key": world.secretAccessKey,
        ...("account-id" in credential ? { "account-id": world.accountId } : {}),
        ...("token" in credential && credential["token"] !== "bad" ? { token: world.tokenValue } : {}),
      };
    }
    return result;
  };
}

/** Metadata files that the recorded register calls found in the bucket. */
async function seedMetadata(world: World, calls: readonly RecordedCall[]): Promise<void> {
  const bucket = new S3Client(`${world.r2.url}/`, "auto", world);
  const registered = calls.filter((call) => call.request.path.endsWith("/register"));
  const metadataOf = (call: RecordedCall): Json =>
    isObject(call.response.body) ? (call.response.body["metadata"] ?? null) : null;
  const sample = registered.map(metadataOf).find(isObject)!;
  let serial = 0;
  for (const call of registered) {
    const body = call.request.body as { name: string; "metadata-location": string };
    const location = body["metadata-location"];
    if (!location.startsWith("s3://lakehouse/") || location.includes("none")) continue;
    const folder = location.replace(/\/metadata\/[^/]*$/, "");
    const other = {
      ...sample,
      location: folder,
      "table-uuid": `00000000-0000-4000-8000-${String(++serial).padStart(12, "0")}`,
    };
    const rejected: Record<string, Json> = {
      b: { ...other, properties: { "write.data.path": "s3://lakehouse/rec/elsewhere" } },
      b2: { ...other, properties: { "write.metadata.path": "s3://lakehouse/rec/elsewhere" } },
      c: { ...other, location: "s3://lakehouse/rec" },
      d: { ...other, location: "s3://lakehouse/other/d" },
      e: { ...other, location: "s3://lakehouse/rec/main.default/a" },
      f: { ...other, location: "s3://lakehouse/rec/main.default/a/sub" },
      h: { hello: "world" },
    };
    const content = body.name === "g" ? "not JSON" : stringifyJson(metadataOf(call) ?? rejected[body.name] ?? other);
    if (isObject(metadataOf(call)) || !/main\.default\/a\//.test(location))
      await bucket.write(location, Buffer.from(content));
  }
}

type Make = (path: string, body: JsonObject | null, name?: string) => Promise<Json>;

interface Outcome {
  readonly same: number;
  readonly different: { call: string; differences: string[] }[];
}

/** Replays calls in order against the server that `serverFor` names. */
async function replay(
  world: World,
  label: string,
  calls: readonly RecordedCall[],
  serverFor: (call: RecordedCall) => RunningServer,
  authorize: (call: RecordedCall) => Promise<string>,
): Promise<Outcome> {
  const translation = new Translation();
  for (const port of [5555, 5556]) translation.learn(`http://127.0.0.1:${port}`, world.r2.url);
  const different: Outcome["different"] = [];
  let same = 0;
  for (const [index, call] of calls.entries()) {
    const headers: Record<string, string> = {
      ...(call.request.body === null ? {} : { "content-type": "application/json" }),
      ...call.request.headers,
    };
    if (headers["authorization"] !== undefined) headers["authorization"] = await authorize(call);
    const reply = await send(serverFor(call).url, call, translation, headers, storageHere(world));
    translation.learnFrom(call.response.body, reply.body);
    if (call.response.headers["etag"] !== undefined)
      translation.learn(call.response.headers["etag"], String(reply.headers["etag"]));
    const found = differences(call, reply);
    if (found.length === 0) same++;
    else different.push({ call: `${label} ${index}: ${call.name ?? call.step ?? ""}`, differences: found });
  }
  return { same, different };
}

(recordingsPresent ? describe : describe.skip)(
  "calls recorded with Lakekeeper 0.13.3 (skipped unless ../shared/contract lies beside the checkout)",
  () => {
    let world: World;
    const servers: RunningServer[] = [];
    const outcomes: Outcome[] = [];

    beforeAll(async () => {
      process.env["RUST_LOG"] = "off";
      world = await startWorld();
    });
    afterAll(async () => {
      await Promise.all(servers.map((server) => server.close()));
      await world.close();
    });

    async function start(settings: Record<string, string>): Promise<RunningServer> {
      const server = await startLakekeeper(settings);
      servers.push(server);
      return server;
    }

    it("get the same answers without tokens, with them, and under another encryption key", async () => {
      const settings = await world.settings("recorded");
      const open = await start(settings);
      const guarded = await start({ ...(await world.settings("guarded")), ...world.openId });
      const otherKey = await start({ ...settings, LAKEKEEPER__PG_ENCRYPTION_KEY: "another key" });
      const serverFor = (call: RecordedCall): RunningServer =>
        call.section?.startsWith("D") === true ? guarded : call.section?.startsWith("F") === true ? otherKey : open;
      const authorize = async (call: RecordedCall): Promise<string> => {
        const bearer = bearerOf(call);
        return `Bearer ${bearer === "garbage" ? "garbage" : await world.sign(bearer.name, bearer.claims)}`;
      };
      outcomes.push(await replay(world, "http", readRecording("http"), serverFor, authorize));
      expect(outcomes.at(-1)!.different.filter(({ call }) => !(call in exceptions))).toEqual([]);
    });

    /** A server that has been in use: bootstrapped, with a protected warehouse `lakehouse` and two users. */
    async function startUsed(
      database: string,
      calls: readonly RecordedCall[],
    ): Promise<{ server: RunningServer; make: Make }> {
      const server = await start({ ...(await world.settings(database)), ...world.openId });
      const translation = new Translation();
      const make: Make = async (path, body, name = "deployer") => {
        const headers = { authorization: `Bearer ${await world.sign(name)}`, "content-type": "application/json" };
        const method = body === null ? "GET" : "POST";
        const call = { request: { method, path, headers, body }, response: calls[0]!.response };
        return (await send(server.url, call, translation, headers, storageHere(world))).body;
      };
      await make("/management/v1/bootstrap", { "accept-terms-of-use": true });
      const made = await make("/management/v1/warehouse", {
        "warehouse-name": "lakehouse",
        "storage-profile": {
          type: "s3",
          bucket: "lakehouse",
          "key-prefix": "warehouse",
          region: "auto",
          endpoint: world.r2.url,
          flavor: "s3-compat",
          "path-style-access": true,
          "sts-enabled": true,
          "sts-token-validity-seconds": 1800,
          "remote-signing-enabled": false,
        },
        "storage-credential": { type: "s3", "credential-type": "cloudflare-r2", "account-id": "", token: "" },
      });
      await make(`/management/v1/warehouse/${(made as { id: string }).id}/protection`, { protected: true });
      await make("/catalog/v1/config?warehouse=lakehouse", null, "ml-runner");
      return { server, make };
    }

    it("get the same answers over the life of a warehouse", async () => {
      const calls = readRecording("lifecycle");
      const { server } = await startUsed("lifecycle", calls);
      await seedMetadata(world, calls);
      const outcome = await replay(
        world,
        "lifecycle",
        calls,
        () => server,
        async () => `Bearer ${await world.sign("deployer")}`,
      );
      outcomes.push(outcome);
      expect(outcome.different.filter(({ call }) => !(call in exceptions))).toEqual([]);
    });

    it("get the same answers, and make equal metadata, when PyIceberg writes", async () => {
      const calls = readRecording("pyiceberg-writes");
      const { server, make } = await startUsed("writes", calls);
      const config = (await make("/catalog/v1/config?warehouse=lakehouse", null)) as { defaults: { prefix: string } };
      for (const namespace of [["main"], ["main", "default"], ["main", "test"]])
        await make(`/catalog/v1/${config.defaults.prefix}/namespaces`, { namespace });
      const outcome = await replay(
        world,
        "writes",
        calls,
        () => server,
        async () => `Bearer ${await world.sign("deployer")}`,
      );
      expect(outcome.different).toEqual([]);
      expect(outcome.same).toBe(calls.length);
    });

    it("differ in few and listed cases only", () => {
      const same = outcomes.reduce((sum, outcome) => sum + outcome.same, 0);
      const different = outcomes.flatMap((outcome) => outcome.different.map(({ call }) => call));
      console.info(`${same + different.length} recorded calls: ${same} same, ${different.length} listed exceptions`);
      expect(different.toSorted()).toEqual(Object.keys(exceptions).toSorted());
      expect(different.length).toBeLessThanOrEqual(10);
    });
  },
);
