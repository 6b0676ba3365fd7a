import { type Lakehouse, startLakehouse } from "./lakehouse.ts";
import type { Session } from "./session.ts";

// Who is let in, and how far the keys reach that the catalog hands out.

const schema = { type: "struct", fields: [{ id: 1, name: "id", type: "long", required: false }] };
const seconds = (): number => Math.floor(Date.now() / 1_000);
/** For how long after its end a token is still believed: seen with Lakekeeper 0.13.3. */
const LEEWAY = 60;

let lakehouse: Lakehouse;
let client: Session;

beforeAll(async () => {
  lakehouse = await startLakehouse();
  client = await lakehouse.client();
  for (const table of ["main.default.one", "main.default.two"])
    await client.do("create_with_rows", { table, schema, rows: [{ id: 1 }] });
});
afterAll(() => lakehouse.close());

test.each<[string, () => Promise<string>]>([
  ["that has expired", () => lakehouse.world.sign("ml-runner", { exp: seconds() - LEEWAY - 5 })],
  ["for another audience", () => lakehouse.world.sign("ml-runner", { aud: "elsewhere" })],
  ["of another issuer", () => lakehouse.world.sign("ml-runner", { iss: "https://issuer.example.com" })],
  ["with a changed subject", async () => forged(await lakehouse.world.sign("ml-runner"))],
  ["that is none", () => Promise.resolve("not-a-token")],
])("a token %s is refused at once", async (_, token) => {
  const stranger = await lakehouse.client("1", await token());
  await expect(stranger.do("rows", { table: "main.default.one" })).rejects.toThrow(
    /^UnauthorizedError: AuthenticationFailed/,
  );
});

/** The same signature over another subject. */
function forged(token: string): string {
  const [header, claims, signature] = token.split(".");
  const changed = JSON.parse(Buffer.from(claims!, "base64url").toString()) as object;
  const body = Buffer.from(JSON.stringify({ ...changed, sub: "operator" })).toString("base64url");
  return [header, body, signature].join(".");
}

test("a token that expires while it is used: refused from then on, rows stay as they were", async () => {
  const table = "main.default.one";
  const late = await lakehouse.client("1", await lakehouse.world.sign("ml-runner", { exp: seconds() - LEEWAY + 12 }));
  const deadline = Date.now() + 30_000;
  let appended = 0;
  const appending = async (): Promise<never> => {
    for (; Date.now() < deadline; appended++) await late.do("append", { table, rows: [{ id: 100 + appended }] });
    throw new Error("the token was believed for too long");
  };
  await expect(appending()).rejects.toThrow("UnauthorizedError");
  expect(appended).toBeGreaterThan(0);
  expect(await client.do("rows", { table })).toHaveLength(1 + appended);
});

test("vended keys open the table they are for, and no other", async () => {
  const [own, foreign] = await Promise.all(
    ["main.default.one", "main.default.two"].map((table) => client.do<string>("metadata_location", { table })),
  );
  const table = "main.default.one";
  expect(await client.do("read_object_with_keys_of", { table, location: own })).toBeGreaterThan(0);
  await expect(client.do("read_object_with_keys_of", { table, location: foreign })).rejects.toThrow("ACCESS_DENIED");
});

test("each table has keys of its own, which end", async () => {
  const [one, two] = await Promise.all(
    ["main.default.one", "main.default.two"].map((table) =>
      client.do<Record<string, string>>("storage_keys", { table }),
    ),
  );
  expect(one!["s3.session-token"]).not.toBe(two!["s3.session-token"]);
  const left = Number(one!["s3.session-token-expires-at-ms"]) - Date.now();
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(3_600_000);
});
