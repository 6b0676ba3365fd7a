import type { DatabaseArgs } from "@pulumi/postgresql/database.js";
import { quoteGo } from "../../goText.ts";
import type { Properties } from "../../protocol.ts";
import { databaseExists, databaseOwner } from "../catalog.ts";
import { naming } from "../errors.ts";
import { asOwner, grantMembership, lockRole, revokeMembership } from "../membership.ts";
import { identifier, literal } from "../quoting.ts";
import { text, type Plan, type Resource } from "../resource.ts";
import type { Property } from "../schema.ts";
import type { Row, Server } from "../server.ts";

const schema = {
  allowConnections: { type: "boolean", default: true },
  alterObjectOwnership: { type: "boolean", default: false },
  connectionLimit: { type: "number", default: -1, atLeast: -1 },
  encoding: { type: "string", computed: true, replaces: true },
  isTemplate: { type: "boolean", computed: true },
  lcCollate: { type: "string", computed: true, replaces: true },
  lcCtype: { type: "string", computed: true, replaces: true },
  name: { type: "string", autonamed: true },
  owner: { type: "string", computed: true },
  tablespaceName: { type: "string", computed: true },
  template: { type: "string", computed: true, replaces: true },
} as const satisfies Record<keyof DatabaseArgs, Property>;

export const database: Resource = {
  schema,
  async create(server, plan) {
    const name = text(plan, "name");
    await asOwner(server, text(plan, "owner"), async () => {
      const on = await server.connect();
      await naming(`error creating database ${quoteGo(name)}`, () => on.query(creation(plan, server)));
    });
    return name;
  },
  exists: (server, state) =>
    server.transaction(
      server.settings.database,
      (transaction) => databaseExists(transaction, nameOf(state)),
      "ROLLBACK",
    ),
  read,
  imported: () => ({}),
  async update(server, plan, state, changed) {
    const [old, name, owner] = [text(state, "name"), text(plan, "name"), text(plan, "owner")];
    const on = await server.connect();
    const alter = (what: string, target: string, option: string): Promise<unknown> =>
      naming(`error updating database ${what}`, () => on.query(`ALTER DATABASE ${identifier(target)} ${option}`));
    if (changed("name")) await alter("name", old, `RENAME TO ${identifier(name)}`);
    if (plan["alterObjectOwnership"] === true && (changed("owner") || changed("alterObjectOwnership")))
      await reassignObjects(server, name, owner);
    if (changed("owner") && owner !== "")
      await asOwner(server, owner, async () => void (await alter("OWNER", name, `OWNER TO ${identifier(owner)}`)));
    if (changed("tablespaceName")) {
      const tablespace = text(plan, "tablespaceName");
      const isDefault = tablespace === "" || tablespace.toUpperCase() === "DEFAULT";
      await alter("TABLESPACE", name, isDefault ? "RESET TABLESPACE" : `SET TABLESPACE ${identifier(tablespace)}`);
    }
    if (changed("connectionLimit"))
      await alter("CONNECTION LIMIT", name, `CONNECTION LIMIT = ${String(plan["connectionLimit"])}`);
    if (changed("allowConnections"))
      await alter("ALLOW_CONNECTIONS", name, `ALLOW_CONNECTIONS ${String(plan["allowConnections"])}`);
    if (changed("isTemplate")) await alter("IS_TEMPLATE", name, `IS_TEMPLATE ${plan["isTemplate"] === true}`);
  },
  async delete(server, state) {
    const name = text(state, "name");
    await asOwner(server, text(state, "owner"), async () => {
      const on = await server.connect();
      if (state["isTemplate"] === true) {
        await naming("error updating database IS_TEMPLATE during DROP DATABASE", () =>
          on.query(`ALTER DATABASE ${identifier(name)} IS_TEMPLATE false`),
        );
      }
      await naming("error blocking connections to database", () =>
        on.query(`ALTER DATABASE ${identifier(name)} ALLOW_CONNECTIONS false`),
      );
      await naming("error terminating database connections", () =>
        on.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${literal(name)} AND pid <> pg_backend_pid()`,
        ),
      );
      await naming("error dropping database", () => on.query(`DROP DATABASE ${identifier(name)} WITH ( FORCE )`));
    });
  },
};

function nameOf(state: Properties): string {
  return text(state, "id") || text(state, "name");
}

function creation(plan: Plan, server: Server): string {
  const option = (word: string, name: string, quote: (value: string) => string, otherwise?: string): string[] => {
    const value = text(plan, name);
    if (value === "") return otherwise === undefined ? [] : [`${word} ${otherwise}`];
    return [`${word} ${value.toUpperCase() === "DEFAULT" ? "DEFAULT" : quote(value)}`];
  };
  return [
    `CREATE DATABASE ${identifier(plan["name"])}`,
    `OWNER ${identifier(text(plan, "owner") || server.settings.username)}`,
    ...option("TEMPLATE", "template", identifier, "template0"),
    ...option("ENCODING", "encoding", literal, "'UTF8'"),
    ...option("LC_COLLATE", "lcCollate", literal),
    ...option("LC_CTYPE", "lcCtype", literal),
    ...option("TABLESPACE", "tablespaceName", identifier),
    `ALLOW_CONNECTIONS ${String(plan["allowConnections"])}`,
    `CONNECTION LIMIT ${String(plan["connectionLimit"])}`,
    `IS_TEMPLATE ${plan["isTemplate"] === true}`,
  ].join(" ");
}

/** Gives all that the owner has in a database to its next one. */
async function reassignObjects(server: Server, name: string, owner: string): Promise<void> {
  const { username } = server.settings;
  const on = await server.connect();
  let old: string | undefined;
  let isGranted = false;
  await server
    .transaction(name, async (transaction) => {
      await lockRole(transaction, username);
      old = await databaseOwner(on, name);
      if (old === owner) return;
      isGranted = await grantMembership(on, old, username);
      await naming("error reassigning objects owned by current database owner", () =>
        transaction.query(`REASSIGN OWNED BY ${identifier(old)} TO ${identifier(owner)}`),
      );
    })
    .finally(() => (isGranted ? revokeMembership(on, old!, username) : undefined));
}

async function read(server: Server, state: Properties): Promise<Properties | undefined> {
  const on = await server.connect();
  const id = nameOf(state);
  const [owned] = await on.query(
    "SELECT d.datname, pg_catalog.pg_get_userbyid(d.datdba) from pg_database d WHERE datname=$1",
    [id],
  );
  const ask = async (columns: string): Promise<Row | undefined> => {
    const rows = await on.query(
      `SELECT ${columns} FROM pg_catalog.pg_database AS d, pg_catalog.pg_tablespace AS ts WHERE d.datname = $1 AND d.dattablespace = ts.oid`,
      [id],
    );
    return rows[0];
  };
  if (owned === undefined) return undefined;
  const row = await ask(
    "pg_catalog.pg_encoding_to_char(d.encoding), d.datcollate, d.datctype, ts.spcname, d.datconnlimit",
  );
  if (row === undefined) return undefined;
  const connections = await ask("d.datallowconn");
  const template = await ask("d.datistemplate");
  return {
    id,
    name: owned["datname"],
    owner: owned["pg_get_userbyid"],
    encoding: row["pg_encoding_to_char"],
    lcCollate: row["datcollate"],
    lcCtype: row["datctype"],
    tablespaceName: row["spcname"],
    connectionLimit: row["datconnlimit"],
    template: text(state, "template") || "template0",
    allowConnections: connections?.["datallowconn"],
    isTemplate: template?.["datistemplate"],
  };
}
