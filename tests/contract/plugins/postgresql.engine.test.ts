import { join } from "node:path";
import pg from "pg";
import { resourceCounts } from "../../support/checkout.ts";
import { startTestPostgres, type TestPostgres } from "../../support/postgres.ts";
import { makeProgram, type Program } from "../cloudflare/program.ts";

/*
 * The real engine, with the stand-in for the plugin on its PATH, on a real Postgres: the database that Lakekeeper needs
 * on a server that somebody else runs.
 */

const plugins = join(process.cwd(), "emulators/plugins/bin");

let postgres: TestPostgres;
let program: Program;

beforeAll(async () => {
  postgres = await startTestPostgres();
  const { username, password } = new URL(postgres.url("postgres"));
  program = await makeProgram(plugins, { DB_PORT: String(postgres.port), DB_USER: username, DB_PASSWORD: password });
}, 600_000);

afterAll(async () => {
  await program.remove();
  await postgres.stop();
});

interface Changes {
  password?: string;
  connectionLimit?: number;
  /** Of the provider. */
  adminPassword?: string;
  grant?: string;
}

function source({ password = "p1", connectionLimit = -1, adminPassword, grant = "" }: Changes = {}): string {
  const admin = adminPassword === undefined ? "process.env.DB_PASSWORD" : JSON.stringify(adminPassword);
  return `
import * as pulumi from "@pulumi/pulumi";
import * as postgresql from "@pulumi/postgresql";
const provider = new postgresql.Provider("server", {
  host: "127.0.0.1", port: Number(process.env.DB_PORT), username: process.env.DB_USER, password: ${admin},
  sslmode: "disable",
});
const role = new postgresql.Role("role", {
  name: "lakekeeper", login: true, password: pulumi.secret("${password}"), connectionLimit: ${connectionLimit},
}, { provider });
const database = new postgresql.Database("database", { name: "catalog", owner: role.name }, { provider });
new postgresql.Extension("extension", { name: "uuid-ossp", database: database.name }, { provider });
new postgresql.Grant("nobody", {
  database: database.name, role: "public", objectType: "database", privileges: [], ${grant}
}, { provider });
export const password = role.password;
export const owner = database.owner;
`;
}

async function succeeds(command: Parameters<Program["pulumi"]>[0], text?: string): Promise<string> {
  const { code, output } = await program.pulumi(command, text);
  if (code !== 0) throw new Error(output);
  return output;
}

async function rows(sql: string, url = postgres.url("postgres")): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const asRole = (password: string) => `postgresql://lakekeeper:${password}@127.0.0.1:${postgres.port}/catalog`;
const databases = "SELECT datname FROM pg_database WHERE datname = 'catalog'";

test("a preview connects to nothing, and knows what is known", async () => {
  const output = await succeeds("preview", source({ adminPassword: "wrong" }));
  expect(resourceCounts(output)).toEqual({ create: 6 });
  expect(output).toMatch(/owner +: "lakekeeper"/);
});

test("a wrong password is refused in the first thing that is made", async () => {
  const { code, output } = await program.pulumi("up", source({ adminPassword: "wrong" }));
  expect(code).not.toBe(0);
  expect(output).toContain(
    "error connecting to PostgreSQL server 127.0.0.1 (scheme: postgres): " +
      'pq: password authentication failed for user "postgres" (28P01)',
  );
  expect(output).not.toContain("wrong");
});

test("up makes a database that its owner can use, and nobody else", async () => {
  expect(resourceCounts(await succeeds("up", source()))).toMatchObject({ created: 4 });
  expect(await rows("SELECT uuid_generate_v4() IS NOT NULL AS works", asRole("p1"))).toEqual([{ works: true }]);
  await rows("CREATE ROLE stranger LOGIN PASSWORD 'x'");
  const stranger = asRole("x").replace("lakekeeper", "stranger");
  await expect(rows("SELECT 1", stranger)).rejects.toThrow('permission denied for database "catalog"');
});

test("the password is a secret, also in the state", async () => {
  expect(await program.outputs()).toEqual({ password: "p1", owner: "lakekeeper" });
  const state = await program.state();
  const role = state.find(({ type }) => type === "postgresql:index/role:Role")!;
  expect(role.inputs["password"]).toHaveProperty("ciphertext");
  expect(role.outputs["password"]).toHaveProperty("ciphertext");
  const ids = state.filter(({ type }) => type.startsWith("postgresql:")).map(({ id }) => id);
  expect(ids.sort()).toEqual(["catalog", "catalog.uuid-ossp", "lakekeeper", "public_catalog_database"]);
});

test("a refresh sees nothing new, and a second up changes nothing", async () => {
  expect(resourceCounts(await succeeds("refresh"))).toEqual({ unchanged: 6 });
  expect(resourceCounts(await succeeds("up"))).toEqual({ unchanged: 6 });
});

test("changes are made in place", async () => {
  const changed = source({ password: "p2", connectionLimit: 7 });
  expect(resourceCounts(await succeeds("up", changed))).toEqual({ updated: 1, unchanged: 5 });
  expect(await rows("SELECT current_user", asRole("p2"))).toEqual([{ current_user: "lakekeeper" }]);
});

test("what somebody has changed is seen by a refresh and put back", async () => {
  await rows("ALTER ROLE lakekeeper NOLOGIN CONNECTION LIMIT 3");
  await rows("GRANT CONNECT ON DATABASE catalog TO PUBLIC");
  expect(resourceCounts(await succeeds("refresh"))).toEqual({ updated: 2, unchanged: 4 });
  expect(resourceCounts(await succeeds("up"))).toEqual({ updated: 2, unchanged: 4 });
  const [role] = await rows("SELECT rolcanlogin, rolconnlimit FROM pg_roles WHERE rolname = 'lakekeeper'");
  expect(role).toEqual({ rolcanlogin: true, rolconnlimit: 7 });
  const [database] = await rows("SELECT datacl::text FROM pg_database WHERE datname = 'catalog'");
  expect(database!["datacl"]).not.toContain("=c/");
});

test("a wrong input is refused in a preview", async () => {
  const { code, output } = await program.pulumi(
    "preview",
    `import * as pulumi from "@pulumi/pulumi";
     const properties = { database: "d", role: "r", objectType: "planet", privileges: [], grantor: "x" };
     new pulumi.CustomResource("postgresql:index/grant:Grant", "g", properties, { version: "3.18.1" });`,
  );
  expect(code).not.toBe(0);
  expect(output).toContain("Invalid or unknown key. There is no property grantor. Examine values at 'g.grantor'.");
  expect(output).toContain("expected object_type to be one of");
});

test("what the stand-in does not do is refused, and said so", async () => {
  const { code, output } = await program.pulumi("preview", source({ grant: 'columns: ["a"]' }));
  expect(code).not.toBe(0);
  expect(output).toContain("The stand-in for PostgreSQL's plugin does not take columns.");
});

test("destroy fails while the database is gone, and takes all away after a refresh", async () => {
  await rows("DROP DATABASE catalog WITH (FORCE)");
  const { code, output } = await program.pulumi("destroy");
  expect(code).not.toBe(0);
  expect(output).toContain('pq: database "catalog" does not exist (3D000)');
  await succeeds("refresh");
  await succeeds("up", source());
  await succeeds("destroy");
  expect(await rows(databases)).toEqual([]);
  expect(await rows("SELECT rolname FROM pg_roles WHERE rolname = 'lakekeeper'")).toEqual([]);
});

test("without `superuser: false` a user who is none makes a role and fails; with it the next up goes on", async () => {
  await rows("CREATE ROLE limited LOGIN CREATEROLE PASSWORD 'x'");
  const limited = (superuser: string) => `
import * as postgresql from "@pulumi/postgresql";
const provider = new postgresql.Provider("server", {
  host: "127.0.0.1", port: Number(process.env.DB_PORT), username: "limited", password: "x", sslmode: "disable", ${superuser}
});
new postgresql.Role("role", { name: "made", login: true, password: "y" }, { provider });
`;
  const { code, output } = await program.pulumi("up", limited(""));
  expect(code).not.toBe(0);
  expect(output).toContain("connected user limited is not a SUPERUSER. You can set `superuser = false`");
  expect((await program.state()).map(({ id }) => id)).toContain("made");
  expect(resourceCounts(await succeeds("up", limited("superuser: false")))).toMatchObject({ updated: 2 });
  await succeeds("destroy");
});
