import type { DefaultPrivilegesArgs } from "@pulumi/postgresql/defaultPrivileges.js";
import type { Properties } from "../../protocol.ts";
import { allExist, roleOid } from "../catalog.ts";
import { naming } from "../errors.ts";
import { asMember, lockRole } from "../membership.ts";
import { areGranted, catalogLetters, listed, requireAllowed } from "../privileges.ts";
import { identifier } from "../quoting.ts";
import { list, text, type Plan, type Resource } from "../resource.ts";
import type { Property } from "../schema.ts";
import type { Queryable, Server } from "../server.ts";

const schema = {
  database: { type: "string", required: true, replaces: true },
  objectType: {
    type: "string",
    required: true,
    replaces: true,
    oneOf: ["table", "sequence", "function", "type", "schema"],
  },
  owner: { type: "string", required: true, replaces: true },
  privileges: { type: "set", required: true },
  role: { type: "string", required: true, replaces: true },
  schema: { type: "string", replaces: true },
  withGrantOption: { type: "boolean", default: false, replaces: true },
} as const satisfies Record<keyof DefaultPrivilegesArgs, Property>;

export const defaultPrivileges: Resource = {
  schema,
  async create(server, plan) {
    await set(server, plan);
    return idOf(plan);
  },
  exists: (server, state) =>
    allExist(server, { database: text(state, "database"), schema: text(state, "schema"), role: text(state, "role") }),
  async read(server, state) {
    const privileges = await server.transaction(
      text(state, "database"),
      (transaction) => currentPrivileges(transaction, state),
      "ROLLBACK",
    );
    if (privileges.length === 0 && list(state, "privileges").length > 0) return undefined;
    return { id: idOf(state), privileges: areGranted(privileges, state) ? state["privileges"] : privileges };
  },
  update: (server, plan) => set(server, plan),
  async delete(server, state) {
    await server.connect();
    await inTransaction(server, state, (transaction) => revoke(transaction, state));
  },
};

async function set(server: Server, plan: Plan): Promise<void> {
  await server.connect();
  if (text(plan, "schema") !== "" && text(plan, "objectType") === "schema")
    throw new Error("cannot specify `schema` when `object_type` is `schema`");
  if (plan["withGrantOption"] === true && text(plan, "role").toLowerCase() === "public")
    throw new Error("with_grant_option cannot be true for role 'public'");
  requireAllowed(plan);
  await inTransaction(server, plan, async (transaction) => {
    await revoke(transaction, plan);
    const privileges = list(plan, "privileges");
    if (privileges.length === 0) return;
    const option = plan["withGrantOption"] === true ? " WITH GRANT OPTION" : "";
    const change = `GRANT ${listed(privileges)} ON ${objectsOf(plan)} TO ${identifier(plan["role"])}${option}`;
    await naming("could not alter default privileges", () => alter(transaction, plan, change));
  });
}

async function revoke(transaction: Queryable, state: Properties): Promise<void> {
  const change = `REVOKE ALL ON ${objectsOf(state)} FROM ${identifier(state["role"])}`;
  await naming("could not revoke default privileges", () => alter(transaction, state, change));
}

async function alter(transaction: Queryable, state: Properties, change: string): Promise<void> {
  const name = text(state, "schema");
  const inSchema = name === "" ? "" : ` IN SCHEMA ${identifier(name)}`;
  await transaction.query(`ALTER DEFAULT PRIVILEGES FOR ROLE ${identifier(state["owner"])}${inSchema} ${change}`);
}

async function inTransaction(
  server: Server,
  state: Properties,
  work: (transaction: Queryable) => Promise<void>,
): Promise<void> {
  const owner = text(state, "owner");
  await server.transaction(text(state, "database"), async (transaction) => {
    await lockRole(transaction, owner);
    await asMember(transaction, [owner], () => work(transaction));
  });
}

async function currentPrivileges(transaction: Queryable, state: Properties): Promise<string[]> {
  const owner = text(state, "owner");
  await lockRole(transaction, owner);
  const oid = await roleOid(transaction, text(state, "role"));
  const letter = catalogLetters[text(state, "objectType")];
  const name = text(state, "schema");
  const privilegesOf = (type: string): string =>
    `SELECT array_agg(prtype) FROM ( SELECT defaclnamespace, (aclexplode(defaclacl)).* FROM pg_default_acl WHERE defaclobjtype = ${type} ) AS t (namespace, grantor_oid, grantee_oid, prtype, grantable)`;
  const [row] =
    name === ""
      ? await transaction.query(
          `${privilegesOf("$2")} WHERE grantee_oid = $1 AND namespace = 0 AND pg_get_userbyid(grantor_oid) = $3;`,
          [oid, letter, owner],
        )
      : await transaction.query(
          `${privilegesOf("$3")} JOIN pg_namespace ON pg_namespace.oid = namespace WHERE grantee_oid = $1 AND nspname = $2 AND pg_get_userbyid(grantor_oid) = $4;`,
          [oid, name, letter, owner],
        );
  return (row?.["array_agg"] ?? []) as string[];
}

function objectsOf(state: Properties): string {
  return `${text(state, "objectType").toUpperCase()}S`;
}

function idOf(state: Properties): string {
  const name = text(state, "schema") || "noschema";
  return [text(state, "role"), text(state, "database"), name, text(state, "owner"), text(state, "objectType")].join(
    "_",
  );
}
