import type { RoleArgs } from "@pulumi/postgresql/role.js";
import type { Properties } from "../../protocol.ts";
import { naming } from "../errors.ts";
import { asMember, lockRole } from "../membership.ts";
import { identifier, literal } from "../quoting.ts";
import { list, text, type Plan, type Resource } from "../resource.ts";
import type { Property } from "../schema.ts";
import type { Queryable, Server } from "../server.ts";
import { rolePassword } from "./rolePassword.ts";

const schema = {
  assumeRole: { type: "string" },
  bypassRowLevelSecurity: { type: "boolean", default: false },
  connectionLimit: { type: "number", default: -1, atLeast: -1 },
  createDatabase: { type: "boolean", default: false },
  createRole: { type: "boolean", default: false },
  encrypted: { type: "unsupported" },
  encryptedPassword: { type: "boolean", default: true },
  idleInTransactionSessionTimeout: { type: "number", atLeast: 0 },
  inherit: { type: "boolean", default: true },
  login: { type: "boolean", default: false },
  name: { type: "string", autonamed: true },
  password: { type: "string", secret: true },
  passwordWo: { type: "string", secret: true, writeOnly: true },
  passwordWoVersion: { type: "string" },
  replication: { type: "boolean", default: false },
  roles: { type: "set" },
  searchPaths: { type: "list" },
  skipDropRole: { type: "boolean", default: false },
  skipReassignOwned: { type: "boolean", default: false },
  statementTimeout: { type: "number", atLeast: 0 },
  superuser: { type: "boolean", default: false },
  validUntil: { type: "string", default: "infinity" },
} as const satisfies Record<keyof RoleArgs, Property>;

/** Attributes that are on or off, with their words in SQL, in the order in which a role is made with them. */
const switches = {
  superuser: "SUPERUSER",
  createDatabase: "CREATEDB",
  createRole: "CREATEROLE",
  inherit: "INHERIT",
  login: "LOGIN",
  bypassRowLevelSecurity: "BYPASSRLS",
  replication: "REPLICATION",
} as const;

/** Settings of a role's sessions that a change of them alone sets. */
const settings = {
  statementTimeout: "statement_timeout",
  idleInTransactionSessionTimeout: "idle_in_transaction_session_timeout",
} as const;

export const role: Resource = {
  schema,
  async create(server, plan) {
    const name = text(plan, "name");
    await server.transaction(server.settings.database, async (transaction) => {
      const options = [...passwordOptions(plan), `VALID UNTIL ${validUntil(plan)}`];
      options.push(`CONNECTION LIMIT ${String(plan["connectionLimit"])}`, ...Object.keys(switches).map(switchIn(plan)));
      await naming(`error creating role ${name}`, () =>
        transaction.query(`CREATE ROLE ${identifier(name)} WITH ${options.join(" ")}`),
      );
      await grantRoles(transaction, plan);
      await setSessions(transaction, plan, (setting) => Boolean(plan[setting]));
    });
    return name;
  },
  async exists(server, state) {
    const on = await server.connect();
    return (await on.query("SELECT rolname FROM pg_catalog.pg_roles WHERE rolname=$1", [nameOf(state)])).length > 0;
  },
  read: (server, state) => read(server, state, nameOf(state)),
  imported: () => ({}),
  async update(server, plan, state, changed) {
    const [old, name] = [text(state, "name"), text(plan, "name")];
    await server.transaction(server.settings.database, async (transaction) => {
      await lockRole(transaction, old);
      if (changed("name")) {
        await naming("error updating role NAME", () =>
          transaction.query(`ALTER ROLE ${identifier(old)} RENAME TO ${identifier(name)}`),
        );
      }
      const alter = (what: string, option: string): Promise<unknown> =>
        naming(`error updating role ${what}`, () => transaction.query(`ALTER ROLE ${identifier(name)} ${option}`));
      // An MD5 hash has the name in it.
      if (changed("name") || changed("password") || changed("passwordWoVersion"))
        await alter("password", `PASSWORD ${literal(passwordOf(plan))}`);
      const flip = (attribute: keyof typeof switches): Promise<unknown> | undefined =>
        changed(attribute) ? alter(switches[attribute], `WITH ${switchIn(plan)(attribute)}`) : undefined;
      await flip("bypassRowLevelSecurity");
      if (changed("connectionLimit"))
        await alter("CONNECTION LIMIT", `CONNECTION LIMIT ${String(plan["connectionLimit"])}`);
      for (const attribute of ["createDatabase", "createRole", "inherit", "login", "replication", "superuser"] as const)
        await flip(attribute);
      if (changed("validUntil")) await alter("VALID UNTIL", `VALID UNTIL ${validUntil(plan)}`);
      await revokeRoles(transaction, name);
      await grantRoles(transaction, plan);
      await setSessions(transaction, plan, changed);
    });
  },
  async delete(server, state) {
    const name = text(state, "name");
    const { username, database } = server.settings;
    await server.transaction(database, async (transaction) => {
      await lockRole(transaction, name);
      if (state["skipReassignOwned"] !== true) {
        await asMember(transaction, [name], async () => {
          await naming(`could not reassign owned by role ${name} to ${username}`, () =>
            transaction.query(`REASSIGN OWNED BY ${identifier(name)} TO ${identifier(username)}`),
          );
          await naming(`could not drop owned by role ${name}`, () =>
            transaction.query(`DROP OWNED BY ${identifier(name)}`),
          );
        });
      }
      if (state["skipDropRole"] === true) return;
      await naming(`could not delete role ${name}`, () => transaction.query(`DROP ROLE ${identifier(name)}`));
    });
  },
};

/** After a change of the name the id is the new one. */
function nameOf(state: Properties): string {
  return text(state, "id") || text(state, "name");
}

const switchIn =
  (plan: Plan) =>
  (attribute: string): string =>
    `${plan[attribute] === true ? "" : "NO"}${switches[attribute as keyof typeof switches]}`;

function passwordOf(plan: Plan): string {
  return text(plan, "password") || text(plan, "passwordWo");
}

function passwordOptions(plan: Plan): string[] {
  const password = passwordOf(plan);
  if (password === "") return [];
  if (password.toUpperCase() === "NULL") return ["PASSWORD NULL"];
  return [plan["encryptedPassword"] === false ? "UNENCRYPTED" : "ENCRYPTED", `PASSWORD ${literal(password)}`];
}

function validUntil(plan: Plan): string {
  const until = text(plan, "validUntil");
  return literal(until === "" || until.toLowerCase() === "infinity" ? "infinity" : until);
}

async function revokeRoles(transaction: Queryable, name: string): Promise<void> {
  const granted = await transaction.query(
    "SELECT pg_get_userbyid(roleid) FROM pg_catalog.pg_auth_members members JOIN pg_catalog.pg_roles ON members.member = pg_roles.oid WHERE rolname = $1",
    [name],
  );
  for (const { pg_get_userbyid: each } of granted) {
    await naming(`could not revoke role ${String(each)} from ${name}`, () =>
      transaction.query(`REVOKE ${identifier(each)} FROM ${identifier(name)}`),
    );
  }
}

async function grantRoles(transaction: Queryable, plan: Plan): Promise<void> {
  const name = text(plan, "name");
  for (const each of list(plan, "roles")) {
    await naming(`could not grant role ${each} to ${name}`, () =>
      transaction.query(`GRANT ${identifier(each)} TO ${identifier(name)}`),
    );
  }
}

async function setSessions(transaction: Queryable, plan: Plan, changed: (name: string) => boolean): Promise<void> {
  const name = text(plan, "name");
  const alter = (what: string, option: string): Promise<unknown> =>
    naming(`could not set ${what} for ${name}`, () => transaction.query(`ALTER ROLE ${identifier(name)} ${option}`));
  const paths = list(plan, "searchPaths");
  const strange = paths.find((path) => path.includes(", "));
  if (strange !== undefined) throw new Error(`search_path cannot contain \`, \`: ${strange}`);
  const path = paths.length > 0 ? paths.map(identifier).join(", ") : "DEFAULT";
  await alter(`search_path ${path}`, `SET search_path TO ${path}`);
  for (const [input, setting] of Object.entries(settings)) {
    if (!changed(input)) continue;
    const value = Number(plan[input] ?? 0);
    await alter(`${setting} ${value}`, value === 0 ? `RESET ${setting}` : `SET ${setting} TO ${value}`);
  }
  if (!changed("assumeRole")) return;
  const assumed = text(plan, "assumeRole");
  await alter(`role ${assumed}`, assumed === "" ? "RESET ROLE" : `SET ROLE TO ${identifier(assumed)}`);
}

async function read(server: Server, state: Properties, id: string): Promise<Properties | undefined> {
  const on = await server.connect();
  const [row] = await on.query(
    "SELECT ARRAY( SELECT pg_get_userbyid(roleid) FROM pg_catalog.pg_auth_members members WHERE member = pg_roles.oid ), " +
      "rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolconnlimit, " +
      "COALESCE(rolvaliduntil::TEXT, 'infinity'), rolconfig, rolreplication, rolbypassrls " +
      "FROM pg_catalog.pg_roles WHERE rolname=$1",
    [id],
  );
  if (row === undefined) return undefined;
  const configured = new Map(
    ((row["rolconfig"] ?? []) as string[]).map((entry) => [
      entry.slice(0, entry.indexOf("=")),
      entry.slice(entry.indexOf("=") + 1),
    ]),
  );
  const paths = configured.get("search_path");
  const found = {
    id: row["rolname"],
    name: row["rolname"],
    assumeRole: configured.get("role") ?? "",
    bypassRowLevelSecurity: row["rolbypassrls"],
    connectionLimit: row["rolconnlimit"],
    createDatabase: row["rolcreatedb"],
    createRole: row["rolcreaterole"],
    encryptedPassword: true,
    idleInTransactionSessionTimeout: Number(configured.get("idle_in_transaction_session_timeout") ?? 0),
    inherit: row["rolinherit"],
    login: row["rolcanlogin"],
    replication: row["rolreplication"],
    roles: row["array"],
    searchPaths: paths === undefined ? [] : paths.split(", ").map((path) => path.replaceAll(/^"+|"+$/g, "")),
    skipDropRole: state["skipDropRole"] === true,
    skipReassignOwned: state["skipReassignOwned"] === true,
    statementTimeout: Number(configured.get("statement_timeout") ?? 0),
    superuser: row["rolsuper"],
    validUntil: row["coalesce"],
  };
  const password = await rolePassword(server, found, state["password"]);
  return { ...found, password };
}
