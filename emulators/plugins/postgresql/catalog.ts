import { roleExists } from "./membership.ts";
import type { Queryable, Server } from "./server.ts";

/** What several resources ask the server's catalog. */

export async function databaseExists(on: Queryable, database: string): Promise<boolean> {
  return (await on.query("SELECT datname FROM pg_database WHERE datname=$1", [database])).length > 0;
}

/** @param database the one that is connected to unless given */
export async function databaseOwner(on: Queryable, database?: string): Promise<string> {
  const [name, values] = database === undefined ? ["current_database()", []] : ["$1", [database]];
  const rows = await on.query(
    `SELECT rolname FROM pg_database JOIN pg_roles ON datdba = pg_roles.oid WHERE datname = ${name}`,
    values,
  );
  if (rows[0] === undefined) throw new Error(`could not find database '${database ?? ""}' while looking for owner`);
  return String(rows[0]["rolname"]);
}

export async function schemaExists(on: Queryable, schema: string): Promise<boolean> {
  return (await on.query("SELECT 1 FROM pg_namespace WHERE nspname=$1", [schema])).length > 0;
}

/** As a number; 0 is for everybody. */
export async function roleOid(on: Queryable, role: string): Promise<string> {
  if (role === "public") return "0";
  const rows = await on.query("SELECT oid FROM pg_roles WHERE rolname = $1", [role]);
  if (rows[0] === undefined) throw new Error(`could not find oid for role ${role}: sql: no rows in result set`);
  return String(rows[0]["oid"]);
}

/** Whether there are a database, and in it a schema and a role; the latter two only when they are given. */
export async function allExist(
  server: Server,
  { database, schema, role }: { database: string; schema: string; role: string },
): Promise<boolean> {
  if (!(await databaseExists(await server.connect(), database))) return false;
  return server.transaction(
    database,
    async (transaction) => {
      if (role !== "public" && !(await roleExists(transaction, role))) return false;
      return schema === "" || schemaExists(transaction, schema);
    },
    "ROLLBACK",
  );
}
