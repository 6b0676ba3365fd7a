import type { ExtensionArgs } from "@pulumi/postgresql/extension.js";
import type { Properties } from "../../protocol.ts";
import { databaseExists } from "../catalog.ts";
import { naming } from "../errors.ts";
import { identifier } from "../quoting.ts";
import { text, type Resource } from "../resource.ts";
import type { Property } from "../schema.ts";
import type { Server } from "../server.ts";

const schema = {
  createCascade: { type: "unsupported", default: false },
  database: { type: "string", computed: true, replaces: true },
  dropCascade: { type: "boolean", default: false },
  name: { type: "string", autonamed: true, replaces: true },
  schema: { type: "string", computed: true },
  version: { type: "string", computed: true },
} as const satisfies Record<keyof ExtensionArgs, Property>;

export const extension: Resource = {
  schema,
  async create(server, plan) {
    const [name, database] = [text(plan, "name"), databaseOf(server, plan)];
    const option = (word: string, input: string): string =>
      text(plan, input) === "" ? "" : ` ${word} ${identifier(plan[input])}`;
    const options = option("SCHEMA", "schema") + option("VERSION", "version");
    await server.connect();
    await server.transaction(database, (transaction) =>
      transaction.query(`CREATE EXTENSION IF NOT EXISTS ${identifier(name)}${options}`),
    );
    return `${database}.${name}`;
  },
  async exists(server, state) {
    const database = databaseOf(server, state);
    if (!(await databaseExists(await server.connect(), database))) return false;
    const rows = await server.transaction(
      database,
      (transaction) =>
        transaction.query("SELECT extname FROM pg_catalog.pg_extension WHERE extname = $1", [state["name"]]),
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
          "SELECT n.nspname, e.extversion FROM pg_catalog.pg_extension e, pg_catalog.pg_namespace n WHERE n.oid = e.extnamespace AND e.extname = $1",
          [name],
        ),
      "ROLLBACK",
    );
    return row && { id: `${database}.${name}`, database, name, schema: row["nspname"], version: row["extversion"] };
  },
  imported(id) {
    const [database, name, ...others] = id.split(".");
    if (name !== undefined && others.length === 0) return { database, name };
    throw new Error(
      `extension ID ${id} has not the expected format 'database.extension': [${id.split(".").join(" ")}]`,
    );
  },
  async update(server, plan, _state, changed) {
    const name = identifier(plan["name"]);
    await server.connect();
    await server.transaction(databaseOf(server, plan), async (transaction) => {
      if (changed("schema")) {
        await naming("error updating extension SCHEMA", () =>
          transaction.query(`ALTER EXTENSION ${name} SET SCHEMA ${identifier(plan["schema"])}`),
        );
      }
      if (changed("version")) {
        await naming("error updating extension version", () =>
          transaction.query(`ALTER EXTENSION ${name} UPDATE TO ${identifier(plan["version"])}`),
        );
      }
    });
  },
  async delete(server, state) {
    const mode = state["dropCascade"] === true ? "CASCADE" : "RESTRICT";
    await server.connect();
    await server.transaction(databaseOf(server, state), (transaction) =>
      transaction.query(`DROP EXTENSION ${identifier(state["name"])} ${mode} `),
    );
  },
};

function databaseOf(server: Server, { database }: Properties): string {
  return typeof database === "string" ? database : server.settings.database;
}
