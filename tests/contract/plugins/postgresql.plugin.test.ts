import pg from "pg";
import { postgresqlPlugin } from "../../../emulators/plugins/postgresql/plugin.ts";
import { reveal, unknown, type Plugin, type Properties } from "../../../emulators/plugins/protocol.ts";
import { freePort } from "../../../platforms/local/ports.ts";
import { startLoggedPostgres, type LoggedPostgres } from "./loggedPostgres.ts";

let postgres: LoggedPostgres;
let printed: string[];

beforeAll(async () => {
  postgres = await startLoggedPostgres();
  await postgres.run("CREATE ROLE admin LOGIN SUPERUSER PASSWORD 'secret'");
});
afterAll(() => postgres.stop());
beforeEach(async () => {
  printed = [];
  await postgres.empty();
});

const server = () => ({
  host: "127.0.0.1",
  port: String(postgres.port),
  username: "admin",
  password: "secret",
  sslmode: "disable",
});

function makePlugin(args: Properties = {}, environment: Record<string, string> = {}): Plugin {
  const plugin = postgresqlPlugin({
    version: "3.18.1",
    log: async (severity, message) => void printed.push(`${severity}: ${message}`),
    environment,
  });
  plugin.configure({ args: { ...server(), ...args } });
  return plugin;
}

function resource(name: string) {
  const type = `postgresql:index/${name.charAt(0).toLowerCase()}${name.slice(1)}:${name}`;
  return { urn: `urn:pulumi:dev::p::${type}::r`, name: "r", type };
}

const [role, database, grant] = [resource("Role"), resource("Database"), resource("Grant")];

/** Makes a resource as the engine does, and resolves with what it stores. */
async function make(plugin: Plugin, of: ReturnType<typeof resource>, news: Properties) {
  const { inputs, failures } = await plugin.check({ ...of, olds: {}, news });
  expect(failures).toBeUndefined();
  const { id, properties } = await plugin.create({ ...of, properties: inputs });
  return { ...of, id: id!, inputs, properties };
}

const sent = async () => (await postgres.statements()).map(({ sql }) => sql);

test("defaults are filled in and named", async () => {
  const { inputs } = await makePlugin().check({ ...role, olds: {}, news: { name: "app" } });
  expect(inputs).toEqual({
    __defaults: ["connectionLimit", "encryptedPassword", "inherit", "validUntil"],
    name: "app",
    connectionLimit: -1,
    encryptedPassword: true,
    inherit: true,
    validUntil: "infinity",
  });
});

test("a name that nobody gives is random once", async () => {
  const plugin = makePlugin();
  const { inputs } = await plugin.check({ ...role, olds: {}, news: {} });
  expect(inputs["name"]).toMatch(/^r-[0-9a-f]{7}$/);
  const again = await plugin.check({ ...role, olds: inputs, news: {} });
  expect(again.inputs["name"]).toBe(inputs["name"]);
});

test.each([
  [role, { nmae: "x" }, "There is no property nmae. Examine values at 'r.nmae'."],
  [role, { login: "yes" }, "login must be a boolean."],
  [role, { connectionLimit: -2 }, "expected connection_limit to be at least (-1), got -2."],
  [role, { encrypted: "true" }, "The stand-in for PostgreSQL's plugin does not take encrypted."],
  [grant, { role: "r", objectType: "table", privileges: [] }, 'The argument "database" is required'],
  [grant, { role: "r", database: "d", objectType: "sequence", privileges: [] }, "does not do sequence, only database"],
])("of a wrong input %# it is said what is wrong", async (of, news, reason) => {
  const { failures } = await makePlugin().check({ ...of, olds: {}, news });
  expect(failures).toEqual([{ reason: expect.stringContaining(reason) as string }]);
});

test("an argument of the provider that is not known, or not done, is refused", () => {
  const { failures } = makePlugin().checkConfig({
    urn: "",
    name: "p",
    type: "pulumi:providers:postgresql",
    olds: {},
    news: { ...server(), passwort: "x", awsRdsIamAuth: "true", superuser: "1" },
  });
  expect(failures!.map(({ reason }) => reason)).toEqual([
    expect.stringContaining("There is no property passwort."),
    expect.stringContaining("does not take awsRdsIamAuth."),
    expect.stringContaining("superuser must be a boolean."),
  ]);
});

test("a preview and an up without changes send nothing", async () => {
  const plugin = makePlugin({ password: "wrong" });
  const { inputs } = await plugin.check({ ...database, olds: {}, news: { name: "db", owner: unknown } });
  const { properties } = await plugin.create({ ...database, properties: inputs, preview: true });
  expect(properties).toMatchObject({ id: unknown, name: "db", owner: unknown, encoding: unknown, isTemplate: unknown });
  const olds = { ...properties, owner: "app", encoding: "UTF8", isTemplate: false };
  const news = { ...inputs, owner: "app" };
  expect(await plugin.diff({ ...database, id: "db", olds, news })).toMatchObject({ changes: "DIFF_NONE" });
  expect(await sent()).toEqual([]);
});

test("a role is made with one statement and can be used; its password is a secret", async () => {
  const made = await make(makePlugin(), role, { name: "app", login: true, password: "it's" });
  expect(await sent()).toContainEqual(
    expect.stringMatching(/^CREATE ROLE "app" WITH ENCRYPTED PASSWORD 'it''s' .* LOGIN/),
  );
  expect(made.id).toBe("app");
  expect(JSON.stringify(made.properties["password"])).toContain("1b47061264138c4ac30d75fd1eb44270");
  const client = new pg.Client({
    ...server(),
    port: postgres.port,
    user: "app",
    password: "it's",
    database: "postgres",
  });
  await client.connect();
  await client.end();
});

test("a database goes with its open sessions, and fails to go twice", async () => {
  const plugin = makePlugin();
  await make(plugin, role, { name: "own" });
  const made = await make(plugin, database, { name: "db", owner: "own" });
  const session = new pg.Client({ ...server(), port: postgres.port, user: "admin", database: "db" });
  const ended = new Promise<Error>((resolve) => session.on("error", resolve));
  await session.connect();
  await postgres.statements();
  await plugin.delete(made);
  expect((await ended).message).toMatch(/terminat/);
  expect(await sent()).toEqual(
    expect.arrayContaining([
      'GRANT "own" TO "admin"',
      'DROP DATABASE "db" WITH ( FORCE )',
      'REVOKE "own" FROM "admin"',
    ]),
  );
  const [member] = await postgres.run("SELECT pg_has_role('own', 'admin', 'member') AS is");
  expect(member).toEqual({ is: false });
  await expect(plugin.delete(made)).rejects.toThrow(
    `deleting ${database.urn}: 1 error occurred:\n\t* error blocking connections to database: pq: database "db" does not exist (3D000)\n\n`,
  );
  expect(printed).toEqual([
    'error:   sdk-v2/provider2.go:571: sdk.helper_schema: error blocking connections to database: pq: database "db" does not exist (3D000): provider=postgresql@3.18.1',
  ]);
});

test("a grant takes away before it gives, and its end gives nothing back", async () => {
  const plugin = makePlugin();
  await make(plugin, database, { name: "db" });
  await make(plugin, role, { name: "app" });
  const inputs = { role: "app", database: "db", objectType: "database", privileges: ["TEMPORARY", "CONNECT"] };
  await postgres.statements();
  const made = await make(plugin, grant, inputs);
  const changes = (await sent()).filter((sql) => /^(GRANT|REVOKE)/.test(sql));
  expect(changes).toEqual([
    'REVOKE ALL PRIVILEGES ON DATABASE "db" FROM "app"',
    'GRANT CONNECT,TEMPORARY ON DATABASE "db" TO "app"',
  ]);
  expect(made).toMatchObject({ id: "app_db_database", properties: { privileges: ["CONNECT", "TEMPORARY"] } });
  const nobody = await make(plugin, grant, { ...inputs, role: "public", privileges: [] });
  expect(nobody.properties["privileges"]).toBeNull();
  await plugin.delete(nobody);
  const [row] = await postgres.run("SELECT has_database_privilege('pg_monitor', 'db', 'CONNECT') AS may");
  expect(row).toEqual({ may: false });
});

test("a grant that its user may not take away says in its outputs what is left", async () => {
  await postgres.run("CREATE ROLE weak LOGIN PASSWORD 'x'; CREATE ROLE own");
  await postgres.run("CREATE DATABASE db OWNER own");
  const plugin = makePlugin({ username: "weak", password: "x", superuser: "false" });
  const inputs = { role: "public", database: "db", objectType: "database", privileges: [] };
  const made = await make(plugin, grant, inputs);
  expect(made.properties["privileges"]).toEqual(["CONNECT", "TEMPORARY"]);
});

test("a refresh sees what was changed by hand, and what is gone", async () => {
  const plugin = makePlugin();
  const made = await make(plugin, role, { name: "app", login: true, roles: [] });
  await postgres.run("ALTER ROLE app NOLOGIN CONNECTION LIMIT 2");
  const { properties, inputs } = await plugin.read(made);
  expect(properties).toMatchObject({ login: false, connectionLimit: 2 });
  expect(inputs).toMatchObject({ login: false, connectionLimit: 2 });
  expect(inputs["__defaults"]).not.toContain("connectionLimit");
  expect(await plugin.diff({ ...role, id: "app", olds: properties, news: made.inputs })).toMatchObject({
    diffs: ["connectionLimit", "login"],
  });
  await postgres.run("DROP ROLE app");
  expect(await plugin.read(made)).toEqual({ properties: {}, inputs: {} });
});

test("tables of a schema are granted all or named ones; a new one is seen as a difference", async () => {
  const plugin = makePlugin();
  await make(plugin, database, { name: "db" });
  await make(plugin, resource("Schema"), { name: "s", database: "db" });
  await make(plugin, role, { name: "app" });
  await postgres.run("CREATE TABLE s.a (i int)", "db");
  const inputs = { role: "app", database: "db", schema: "s", objectType: "table", privileges: ["SELECT", "INSERT"] };
  const made = await make(plugin, grant, inputs);
  expect(made.properties["privileges"]).toEqual(["INSERT", "SELECT"]);
  await postgres.run("CREATE TABLE s.b (i int)", "db");
  expect((await plugin.read(made)).properties["privileges"]).toEqual([]);
  const one = await make(plugin, grant, { ...inputs, objects: ["b"], privileges: ["SELECT"] });
  expect(one.id).toBe("app_db_s_table_b");
  expect((await plugin.read(one)).properties["privileges"]).toEqual(["SELECT"]);
});

test("`ALL` on tables is more on the server than the plugin knows of since Postgres 17, and so never the same", async () => {
  const plugin = makePlugin();
  await postgres.run("CREATE ROLE app; CREATE TABLE IF NOT EXISTS public.known (i int)");
  const inputs = { role: "app", database: "postgres", schema: "public", objectType: "table", privileges: ["ALL"] };
  expect((await make(plugin, grant, inputs)).properties["privileges"]).toBeNull();
  await postgres.run("DROP TABLE public.known");
});

test("an extension that is there becomes the stack's, and goes with it", async () => {
  const plugin = makePlugin();
  await make(plugin, database, { name: "db" });
  await postgres.run("CREATE EXTENSION pgcrypto", "db");
  const made = await make(plugin, resource("Extension"), { name: "pgcrypto", database: "db" });
  expect(made).toMatchObject({ id: "db.pgcrypto", properties: { schema: "public" } });
  await plugin.delete(made);
  expect(await postgres.run("SELECT extname FROM pg_extension WHERE extname = 'pgcrypto'", "db")).toEqual([]);
});

test("the replacement of a membership ends without one", async () => {
  const plugin = makePlugin();
  for (const name of ["own", "app"]) await make(plugin, role, { name });
  const membership = resource("GrantRole");
  const old = await make(plugin, membership, { role: "app", grantRole: "own" });
  const news = { role: "app", grantRole: "own", withAdminOption: true };
  const diff = await plugin.diff({ ...membership, id: old.id, olds: old.properties, news });
  expect(diff).toMatchObject({ replaces: ["withAdminOption"] });
  expect(diff).not.toHaveProperty("deleteBeforeReplace");
  const replacement = await make(plugin, membership, news);
  await plugin.delete(old);
  expect(await plugin.read(replacement)).toEqual({ properties: {}, inputs: {} });
});

test("what is imported has for inputs what is not the default", async () => {
  await postgres.run("CREATE ROLE there LOGIN CREATEDB");
  const { id, inputs } = await makePlugin().read({ ...role, id: "there" });
  expect(id).toBe("there");
  expect(reveal(inputs)).toEqual({ __defaults: [], name: "there", login: true, createDatabase: true });
});

describe("of a connection that fails, it is said why", () => {
  const failure = async (args: Properties): Promise<string> => {
    const { inputs } = await makePlugin().check({ ...role, olds: {}, news: { name: "app" } });
    const error = await makePlugin(args)
      .create({ ...role, properties: inputs })
      .catch((thrown: Error) => thrown);
    return (error as Error).message;
  };
  const prefix = "1 error occurred:\n\t* error connecting to PostgreSQL server 127.0.0.1 (scheme: postgres): ";

  test("without `sslmode`, TLS is required", async () => {
    expect(await failure({ sslmode: undefined })).toBe(`${prefix}pq: SSL is not enabled on the server\n\n`);
    await make(makePlugin({ sslmode: "prefer" }), role, { name: "app" });
  });

  test("a mode that there is not", async () => {
    expect(await failure({ sslmode: "off" })).toContain('pq: wrong value for "sslmode": "off" is not supported');
  });

  test("a wrong password, and none", async () => {
    const refused = 'password authentication failed for user "admin" (28P01)\n\n';
    expect(await failure({ password: "wrong" })).toBe(`${prefix}pq: ${refused}`);
    expect(await failure({ password: undefined })).toBe(`${prefix}XXXXpXXXXq: ${refused}`);
  });

  test("a port that nobody listens on, and a database that is not there", async () => {
    const port = await freePort();
    expect(await failure({ port: String(port) })).toBe(
      `${prefix}dial tcp 127.0.0.1:${port}: connect: connection refused\n\n`,
    );
    expect(await failure({ database: "nope" })).toBe(`${prefix}pq: database "nope" does not exist (3D000)\n\n`);
  });
});

test("a provider without arguments has those of the environment", async () => {
  const plugin = postgresqlPlugin({
    version: "3.18.1",
    log: async () => {},
    environment: {
      PGHOST: "127.0.0.1",
      PGPORT: String(postgres.port),
      PGUSER: "admin",
      PGPASSWORD: "secret",
      PGSSLMODE: "disable",
    },
  });
  plugin.configure({ args: { version: "3.18.1" } });
  expect((await make(plugin, role, { name: "app" })).id).toBe("app");
});

test("many at a time wait for the connections that there may be", async () => {
  const plugin = makePlugin({ maxConnections: "2" });
  const names = ["a", "b", "c", "d", "e", "f"];
  const made = await Promise.all(names.map((name) => make(plugin, role, { name, login: true, password: "x" })));
  expect(made.map(({ id }) => id)).toEqual(names);
});
