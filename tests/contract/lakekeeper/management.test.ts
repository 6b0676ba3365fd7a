import { type RunningServer, startLakekeeper } from "../../../emulators/lakekeeper/server.ts";
import { bucketOf, type Client, clientOf, warehouseRequest } from "./client.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
let server: RunningServer;
let call: Client;

beforeAll(async () => {
  process.env["RUST_LOG"] = "off";
  world = await startWorld();
  server = await startLakekeeper(await world.settings("management"));
  call = clientOf(server.url);
  await call("POST", "/management/v1/bootstrap", { "accept-terms-of-use": true });
});
afterAll(async () => {
  await server.close();
  await world.close();
});

const warehouses = "/management/v1/warehouse";

async function create(name: string, profile = {}, rest = {}): Promise<string> {
  const made = await call("POST", warehouses, warehouseRequest(world, name, profile, rest));
  expect(made.status).toBe(201);
  return (made.body as { id: string }).id;
}

describe("bodies that do not fit", () => {
  const explain = "Failed to deserialize the JSON body into the target type: ";
  it.each([
    ["an empty object", "{}", 422, `${explain}missing field \`accept-terms-of-use\` at line 1 column 2`],
    [
      "a text for a boolean",
      '{\n  "accept-terms-of-use": "yes"\n}',
      422,
      `${explain}accept-terms-of-use: invalid type: string "yes", expected a boolean at line 2 column 30`,
    ],
    ["a list", "[]", 422, `${explain}invalid type: sequence, expected struct BootstrapRequest at line 1 column 2`],
    ["nothing", "", 400, "Failed to parse the request body as JSON: EOF while parsing a value at line 1 column 0"],
    [
      "half an object",
      '{"a": 1',
      400,
      "Failed to parse the request body as JSON: EOF while parsing an object at line 1 column 7",
    ],
    ["a bare word", "nope", 400, "Failed to parse the request body as JSON: expected ident at line 1 column 2"],
  ])("%s", async (_what, body, status, message) => {
    const reply = await call("POST", "/management/v1/bootstrap", body, { "content-type": "application/json" });
    expect([reply.status, reply.headers.get("content-type"), reply.body]).toEqual([
      status,
      "text/plain; charset=utf-8",
      message,
    ]);
  });

  it("names the object, not the field, inside a tagged one", async () => {
    const request = warehouseRequest(world, "shape", { "sts-token-validity-seconds": "3600" });
    const reply = await call("POST", warehouses, request);
    expect(reply.status).toBe(422);
    expect(reply.body).toMatch(
      /^Failed to .* type: storage-profile: invalid type: string "3600", expected u64 at line 1 column \d+$/,
    );
  });

  it("needs a content type and a method that exists", async () => {
    expect((await call("POST", "/management/v1/bootstrap", "{}", { "content-type": "text/plain" })).status).toBe(415);
    expect((await call("DELETE", "/management/v1/bootstrap")).status).toBe(405);
    expect((await call("GET", "/management/v1/nothing")).status).toBe(404);
  });
});

describe("creating a warehouse", () => {
  it("tries the storage and leaves nothing behind", async () => {
    await create("tried");
    expect(await bucketOf(world).list("s3://lakehouse/tried")).toEqual([]);
  });

  it.each([
    ["a bucket that is not there", { bucket: "no-such-bucket" }, 400, "NotFound"],
    ["an endpoint with a path", { endpoint: "http://127.0.0.1:9/path" }, 400, "InvalidS3Endpoint"],
    ["an endpoint where nobody listens", { endpoint: "http://127.0.0.1:9" }, 400, "Unexpected"],
    ["an impossible bucket name", { bucket: "Under_Score" }, 400, "InvalidLocation"],
    ["no endpoint with an R2 credential", { endpoint: null }, 400, "Invalidendpoint"],
  ])("refuses %s", async (_what, profile, status, type) => {
    const reply = await call("POST", warehouses, warehouseRequest(world, "refused", profile));
    expect([reply.status, reply.type]).toEqual([status, type]);
  });

  it("refuses a token that may not mint keys", async () => {
    const request = warehouseRequest(world, "refused");
    const credential = { ...(request["storage-credential"] as object), token: "not the token" };
    const reply = await call("POST", warehouses, { ...request, "storage-credential": credential });
    expect([reply.status, reply.type]).toEqual([412, "ShortTermCredentialError"]);
  });

  it("refuses a place or a name that another warehouse has", async () => {
    await create("taken");
    const inside = await call("POST", warehouses, warehouseRequest(world, "inside", { "key-prefix": "taken/inside" }));
    expect([inside.status, inside.type]).toEqual([400, "CreateWarehouseStorageProfileOverlap"]);
    const named = await call("POST", warehouses, warehouseRequest(world, "TAKEN", { "key-prefix": "elsewhere" }));
    expect([named.status, named.type]).toEqual([409, "WarehouseAlreadyExists"]);
  });

  it("takes an ordinary S3 key with STS too", async () => {
    const request = warehouseRequest(world, "sts");
    const { "access-key-id": id, "secret-access-key": secret } = request["storage-credential"] as Record<
      string,
      string
    >;
    const credential = {
      type: "s3",
      "credential-type": "access-key",
      "access-key-id": id!,
      "secret-access-key": secret!,
    };
    expect((await call("POST", warehouses, { ...request, "storage-credential": credential })).status).toBe(201);
  });

  it("fills in and straightens the profile", async () => {
    const id = await create("straight", { "key-prefix": "/straight/", endpoint: `${world.r2.url}/lakehouse` });
    const { body } = await call("GET", `${warehouses}/${id}`);
    expect(body).toMatchObject({
      "storage-profile": {
        endpoint: `${world.r2.url}/`,
        "key-prefix": "straight",
        flavor: "s3-compat",
        "sts-token-validity-seconds": 3600,
      },
      "storage-credential-type": { type: "s3", "credential-type": "cloudflare-r2" },
      "delete-profile": { type: "hard" },
    });
    expect(JSON.stringify(body)).not.toContain(world.tokenValue);
  });
});

describe("changing a warehouse", () => {
  it("never moves it, and forgets a credential that is not sent along", async () => {
    const id = await create("changed");
    const { "storage-profile": profile, "storage-credential": credential } = warehouseRequest(world, "changed");
    const moved = await call("POST", `${warehouses}/${id}/storage`, {
      "storage-profile": { ...(profile as object), "key-prefix": "elsewhere" },
      "storage-credential": credential!,
    });
    expect([moved.status, moved.type]).toEqual([400, "UpdateError"]);
    const without = await call("POST", `${warehouses}/${id}/storage`, { "storage-profile": profile! });
    expect(without.status).toBe(400);
  });

  it("serves what it remembers for a while after the status changed", async () => {
    const id = await create("status");
    const config = "/catalog/v1/config?warehouse=status";
    await call("POST", `${warehouses}/${id}/deactivate`, {});
    expect((await call("GET", config)).status).toBe(200);
    const listed = (await call("GET", warehouses)).body as { warehouses: { id: string }[] };
    expect(listed.warehouses.map((warehouse) => warehouse.id)).not.toContain(id);
    const both = await call("GET", `${warehouses}?warehouseStatus[]=active&warehouseStatus[]=inactive`);
    expect((both.body as typeof listed).warehouses.map((warehouse) => warehouse.id)).toContain(id);
    expect((await call("GET", `${warehouses}?warehouseStatus=inactive`)).status).toBe(400);
    // A change of the credential looks at the database, and what it sees is remembered in turn.
    expect((await call("POST", `${warehouses}/${id}/storage-credential`, {})).status).toBe(404);
    await call("POST", `${warehouses}/${id}/activate`, {});
    expect((await call("GET", config)).status).toBe(404);
  });

  it("goes away only unprotected and empty", async () => {
    const id = await create("kept");
    await call("POST", `/catalog/v1/${id}/namespaces`, { namespace: ["ns"] });
    await call("POST", `${warehouses}/${id}/protection`, { protected: true });
    const types: (string | undefined)[] = [];
    for (const query of ["", "?force=true"]) types.push((await call("DELETE", `${warehouses}/${id}${query}`)).type);
    expect(types).toEqual(["WarehouseProtected", "WarehouseNotEmpty"]);
    await call("DELETE", `/catalog/v1/${id}/namespaces/ns`);
    expect((await call("DELETE", `${warehouses}/${id}?force=true`)).status).toBe(204);
    expect((await call("GET", `${warehouses}/${id}`)).status).toBe(404);
  });
});

describe("with tokens demanded", () => {
  let guarded: RunningServer;
  beforeAll(async () => {
    guarded = await startLakekeeper({ ...(await world.settings("tokens")), ...world.openId });
  });
  afterAll(() => guarded.close());

  async function info(token: string | undefined): Promise<(string | number | undefined)[]> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const reply = await clientOf(guarded.url)("GET", "/management/v1/info", undefined, headers);
    return [reply.status, reply.type];
  }

  it("takes those of the issuer, for the audience, unexpired", async () => {
    const now = Math.floor(Date.now() / 1000);
    expect(await info(undefined)).toEqual([401, "MissingAuthorizationHeader"]);
    expect(await info("x.y.z")).toEqual([401, "AuthenticationFailed"]);
    expect(await info(await world.sign("a", { aud: "somebody else" }))).toEqual([401, "AuthenticationFailed"]);
    expect(await info(await world.sign("a", { iss: "https://elsewhere.example" }))).toEqual([
      401,
      "AuthenticationFailed",
    ]);
    expect(await info(await world.sign("a", { exp: now - 120 }))).toEqual([401, "AuthenticationFailed"]);
    expect(await info(await world.sign("a", { exp: now - 30 }))).toEqual([200, undefined]);
    expect(await info(await world.sign("a"))).toEqual([200, undefined]);
  });

  it("asks before it looks for the route, and never for its health", async () => {
    const open = clientOf(guarded.url);
    expect((await open("GET", "/management/v1/nothing")).status).toBe(401);
    expect((await open("GET", "/health")).status).toBe(200);
  });
});
