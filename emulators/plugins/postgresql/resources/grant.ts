import type { GrantArgs } from "@pulumi/postgresql/grant.js";
import type { Properties } from "../../protocol.ts";
import { allExist, databaseOwner, roleOid } from "../catalog.ts";
import { naming } from "../errors.ts";
import { asMember, lockRole } from "../membership.ts";
import { areGranted, catalogLetters, listed, requireAllowed } from "../privileges.ts";
import { identifier } from "../quoting.ts";
import { list, text, type Plan, type Resource } from "../resource.ts";
import type { Property } from "../schema.ts";
import type { Queryable, Server } from "../server.ts";

const objectTypes = ["database", "function", "procedure", "routine", "schema", "sequence", "table"];
const foreign = ["foreign_data_wrapper", "foreign_server", "column"];

const schema = {
  columns: { type: "unsupported", replaces: true },
  database: { type: "string", required: true, replaces: true },
  objectType: {
    type: "string",
    required: true,
    replaces: true,
    oneOf: [...objectTypes, ...foreign],
    done: ["database", "schema", "table"],
  },
  objects: { type: "set", replaces: true },
  privileges: { type: "set", required: true },
  role: { type: "string", required: true, replaces: true },
  schema: { type: "string", replaces: true },
  withGrantOption: { type: "boolean", default: false, replaces: true },
} as const satisfies Record<keyof GrantArgs, Property>;

/** Every change takes all privileges away and gives those that are wanted; nothing ever gives back what was before. */
export const grant: Resource = {
  schema,
  deleteBeforeReplace: true,
  async create(server, plan) {
    await set(server, plan, list(plan, "privileges"));
    return idOf(plan);
  },
  exists: (server, state) =>
    allExist(server, { database: text(state, "database"), schema: schemaOf(state), role: text(state, "role") }),
  async read(server, state) {
    const privileges = await server.transaction(
      text(state, "database"),
      (transaction) => currentPrivileges(transaction, state),
      "ROLLBACK",
    );
    return { id: idOf(state), privileges: areGranted(privileges, state) ? state["privileges"] : privileges };
  },
  async update(server, plan, state, changed) {
    await set(server, plan, list(changed("privileges") ? state : plan, "privileges"));
  },
  async delete(server, state) {
    await server.connect();
    await inTransaction(server, state, (transaction) => revoke(transaction, state, list(state, "privileges")));
  },
};

/** @param before the privileges that are taken away from the objects that the plan names */
async function set(server: Server, plan: Plan, before: readonly string[]): Promise<void> {
  await server.connect();
  const objectType = text(plan, "objectType");
  if (objectType !== "database" && text(plan, "schema") === "")
    throw new Error("parameter 'schema' is mandatory for postgresql_grant resource");
  if (objectType !== "table" && list(plan, "objects").length > 0)
    throw new Error("cannot specify `objects` when `object_type` is `database` or `schema`");
  requireAllowed(plan);
  await inTransaction(server, plan, async (transaction) => {
    await revoke(transaction, plan, before);
    const privileges = list(plan, "privileges");
    if (privileges.length === 0) return;
    const option = plan["withGrantOption"] === true ? " WITH GRANT OPTION" : "";
    const on = `${listed(privileges)} ON ${objectsOf(plan)}`;
    await naming("could not execute grant query", () =>
      transaction.query(`GRANT ${on} TO ${identifier(plan["role"])}${option}`),
    );
  });
}

async function revoke(transaction: Queryable, state: Properties, privileges: readonly string[]): Promise<void> {
  const areNamed = list(state, "objects").length > 0 && privileges.length > 0;
  const what = areNamed ? listed(privileges) : "ALL PRIVILEGES";
  await naming("could not execute revoke query", () =>
    transaction.query(`REVOKE ${what} ON ${objectsOf(state)} FROM ${identifier(state["role"])}`),
  );
}

async function inTransaction(
  server: Server,
  state: Properties,
  work: (transaction: Queryable) => Promise<void>,
): Promise<void> {
  const database = text(state, "database");
  await server.transaction(database, async (transaction) => {
    await lockRole(transaction, text(state, "role"));
    if (text(state, "objectType") !== "database") {
      return asMember(transaction, await ownersOf(transaction, state), () => work(transaction));
    }
    await transaction.query("SET statement_timeout = 0");
    await transaction.query("SELECT pg_advisory_xact_lock(oid::bigint) FROM pg_database WHERE datname = $1", [
      database,
    ]);
    return work(transaction);
  });
}

/** Whose objects these are. */
async function ownersOf(transaction: Queryable, state: Properties): Promise<string[]> {
  const name = text(state, "schema");
  const owners = new Set<string>();
  if (text(state, "objectType") === "table") {
    const rows = await transaction.query("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = $1", [name]);
    for (const { tableowner } of rows) owners.add(String(tableowner));
  }
  const [row] = await transaction.query(
    "SELECT rolname FROM pg_namespace JOIN pg_roles ON nspowner = pg_roles.oid WHERE nspname = $1",
    [name],
  );
  if (row === undefined) throw new Error(`could not find schema '${name}' while looking for owner`);
  owners.add(String(row["rolname"]));
  const named: string[] = [];
  // A role that has only the owner of the database as a member.
  for (const owner of owners) named.push(owner === "pg_database_owner" ? await databaseOwner(transaction) : owner);
  return named;
}

function objectsOf(state: Properties): string {
  const name = identifier(state["schema"]);
  if (text(state, "objectType") === "database") return `DATABASE ${identifier(state["database"])}`;
  if (text(state, "objectType") === "schema") return `SCHEMA ${name}`;
  const objects = list(state, "objects");
  if (objects.length === 0) return `ALL TABLES IN SCHEMA ${name}`;
  return `TABLE ${objects.map((object) => `${name}.${identifier(object)}`).join(",")}`;
}

/** Of tables, those of the state when every one has them, and none otherwise. */
async function currentPrivileges(transaction: Queryable, state: Properties): Promise<string[]> {
  const oid = await roleOid(transaction, text(state, "role"));
  if (text(state, "objectType") !== "table") {
    const [catalog, name] =
      text(state, "objectType") === "database"
        ? ["(aclexplode(datacl)).* FROM pg_database WHERE datname=$1", state["database"]]
        : ["(aclexplode(nspacl)).* FROM pg_namespace WHERE nspname=$1", state["schema"]];
    const [row] = await transaction.query(
      `SELECT array_agg(privilege_type) FROM ( SELECT ${catalog} ) as privileges WHERE grantee = $2`,
      [name, oid],
    );
    return (row?.["array_agg"] ?? []) as string[];
  }
  const tables = await transaction.query(
    "SELECT pg_class.relname, array_remove(array_agg(privilege_type), NULL) FROM pg_class " +
      "JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace LEFT JOIN ( SELECT acls.* FROM " +
      "( SELECT relname, relnamespace, relkind, (aclexplode(relacl)).* FROM pg_class c ) as acls WHERE grantee=$1 ) privs " +
      "USING (relname, relnamespace, relkind) WHERE nspname = $2 AND relkind = $3 GROUP BY pg_class.relname",
    [oid, state["schema"], catalogLetters["table"]],
  );
  const objects = list(state, "objects");
  const meant = tables.filter(({ relname }) => objects.length === 0 || objects.includes(String(relname)));
  const areSame = meant.every(({ array_remove: privileges }) => areGranted(privileges as string[], state));
  return areSame ? list(state, "privileges") : [];
}

function schemaOf(state: Properties): string {
  return text(state, "objectType") === "database" ? "" : text(state, "schema");
}

function idOf(state: Properties): string {
  const schemas = schemaOf(state) === "" ? [] : [schemaOf(state)];
  return [
    text(state, "role"),
    text(state, "database"),
    ...schemas,
    text(state, "objectType"),
    ...list(state, "objects"),
  ].join("_");
}
