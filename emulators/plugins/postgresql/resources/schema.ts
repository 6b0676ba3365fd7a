import type { SchemaArgs } from "@pulumi/postgresql/schema.js";
import type { Properties } from "../../protocol.ts";
import { databaseExists, databaseOwner, schemaExists } from "../catalog.ts";
import { naming } from "../errors.ts";
import { asMember } from "../membership.ts";
import { identifier } from "../quoting.ts";
import { text, type Plan, type Resource } from "../resource.ts";
import type { Property } from "../schema.ts";
import type { Queryable, Server } from "../server.ts";

const inputs = {
  database: { type: "string", computed: true, replaces: true },
  dropCascade: { type: "boolean", default: false },
  ifNotExists: { type: "boolean", default: true },
  name: { type: "string", autonamed: true },
  owner: { type: "string", computed: true },
  policies: { type: "unsupported" },
} as const satisfies Record<keyof SchemaArgs, Property>;

/** A schema that is there already becomes the stack's, and goes with it. */
export const schema: Resource = {
  schema: inputs,
  async create(server, plan) {
    const [name, owner, database] = [text(plan, "name"), text(plan, "owner"), databaseOf(server, plan)];
    await server.connect();
    await server.transaction(database, async (transaction) => {
      const roles = new Set([await databaseOwner(transaction, database), ...(owner === "" ? [] : [owner])]);
      await asMember(transaction, [...roles], async () => {
        const found = await transaction.query("SELECT TRUE FROM pg_catalog.pg_namespace WHERE nspname = $1", [name]);
        if (found.length > 0) return setOwner(transaction, plan);
        const condition = plan["ifNotExists"] === true ? "IF NOT EXISTS " : "";
        const authorization = owner === "" ? "" : ` AUTHORIZATION ${identifier(owner)}`;
        await naming(`error creating schema ${name}`, () =>
          transaction.query(`CREATE SCHEMA ${condition}${identifier(name)}${authorization}`),
        );
      });
    });
    return `${database}.${name}`;
  },
  async exists(server, state) {
    const database = databaseOf(server, state);
    if (!(await databaseExists(await server.connect(), database))) return false;
    const rows = await server.transaction(
      database,
      (transaction) =>
        transaction.query("SELECT n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname=$1", [state["name"]]),
      "ROLLBACK",
    );
    return rows.length > 0;
  },
  async read(server, state) {
    const [name, database] = [text(state, "name"), databaseOf(server, state)];
    const [row] = await server.transaction(
      database,
      (transaction) =>
        transaction.query(
          "SELECT pg_catalog.pg_get_userbyid(n.nspowner), COALESCE(n.nspacl, '{}'::aclitem[])::TEXT[] FROM pg_catalog.pg_namespace n WHERE n.nspname=$1",
          [name],
        ),
      "ROLLBACK",
    );
    return row && { id: `${database}.${name}`, database, name, owner: row["pg_get_userbyid"], policies: [] };
  },
  async update(server, plan, state, changed) {
    await server.connect();
    await server.transaction(databaseOf(server, plan), async (transaction) => {
      if (changed("name")) {
        await naming("error updating schema NAME", () =>
          transaction.query(`ALTER SCHEMA ${identifier(state["name"])} RENAME TO ${identifier(plan["name"])}`),
        );
      }
      if (changed("owner")) await setOwner(transaction, plan);
    });
  },
  async delete(server, state) {
    const name = text(state, "name");
    await server.connect();
    await server.transaction(databaseOf(server, state), async (transaction) => {
      if (!(await schemaExists(transaction, name))) return;
      const mode = state["dropCascade"] === true ? "CASCADE" : "RESTRICT";
      await asMember(transaction, [text(state, "owner")], async () => {
        await naming("error deleting schema", () => transaction.query(`DROP SCHEMA ${identifier(name)} ${mode}`));
      });
    });
  },
};

async function setOwner(transaction: Queryable, plan: Plan): Promise<void> {
  const owner = text(plan, "owner");
  if (owner === "") return;
  await naming("error updating schema OWNER", () =>
    transaction.query(`ALTER SCHEMA ${identifier(plan["name"])} OWNER TO ${identifier(owner)}`),
  );
}

function databaseOf(server: Server, { database }: Properties): string {
  return typeof database === "string" ? database : server.settings.database;
}
