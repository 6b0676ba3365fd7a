import type { GrantRoleArgs } from "@pulumi/postgresql/grantRole.js";
import type { Properties } from "../../protocol.ts";
import { naming } from "../errors.ts";
import { identifier } from "../quoting.ts";
import { text, type Resource } from "../resource.ts";
import type { Property } from "../schema.ts";
import type { Queryable } from "../server.ts";

const schema = {
  grantRole: { type: "string", required: true, replaces: true },
  role: { type: "string", required: true, replaces: true },
  withAdminOption: { type: "boolean", default: false, replaces: true },
} as const satisfies Record<keyof GrantRoleArgs, Property>;

/** The replacement comes first, and then the old one is revoked: after that the membership is gone. */
export const grantRole: Resource = {
  schema,
  async create(server, plan) {
    await server.transaction(server.settings.database, async (transaction) => {
      await revoke(transaction, plan);
      const option = plan["withAdminOption"] === true ? " WITH ADMIN OPTION" : "";
      await naming("could not execute grant query", () =>
        transaction.query(`GRANT ${identifier(plan["grantRole"])} TO ${identifier(plan["role"])}${option}`),
      );
    });
    return [text(plan, "role"), text(plan, "grantRole"), String(plan["withAdminOption"] === true)].join("_");
  },
  async read(server, state) {
    const on = await server.connect();
    const [row] = await on.query(
      "SELECT pg_get_userbyid(member) as role, pg_get_userbyid(roleid) as grant_role, admin_option FROM pg_auth_members " +
        "WHERE pg_get_userbyid(member) = $1 AND pg_get_userbyid(roleid) = $2;",
      [state["role"], state["grantRole"]],
    );
    return row && { role: row["role"], grantRole: row["grant_role"], withAdminOption: row["admin_option"] };
  },
  async update() {
    // Every change replaces it.
  },
  async delete(server, state) {
    await server.transaction(server.settings.database, (transaction) => revoke(transaction, state));
  },
};

async function revoke(transaction: Queryable, state: Properties): Promise<void> {
  await naming("could not execute revoke query", () =>
    transaction.query(`REVOKE ${identifier(state["grantRole"])} FROM ${identifier(state["role"])}`),
  );
}
