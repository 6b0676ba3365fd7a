import { naming } from "./errors.ts";
import { identifier } from "./quoting.ts";
import type { Queryable, Server } from "./server.ts";

/*
 * A user who is no superuser may change only what belongs to a role that it is a member of. So the real plugin makes
 * its user a member for as long as it works.
 */

export async function currentUser(on: Queryable): Promise<string> {
  const [row] = await on.query("SELECT CURRENT_USER");
  return String(row!["current_user"]);
}

export async function isSuperuser(on: Queryable, role: string): Promise<boolean> {
  const rows = await on.query("SELECT rolsuper FROM pg_roles WHERE rolname = $1", [role]);
  if (rows[0] === undefined) {
    throw new Error(`could not check if role ${role} is superuser: sql: no rows in result set`);
  }
  return rows[0]["rolsuper"] === true;
}

/** Keeps others away from a role, and from those that are its members, until the end of the transaction. */
export async function lockRole(transaction: Queryable, role: string): Promise<void> {
  await transaction.query("SET statement_timeout = 0");
  await transaction.query("SELECT pg_advisory_xact_lock(oid::bigint) FROM pg_roles WHERE rolname = $1", [role]);
  await transaction.query(
    "SELECT pg_advisory_xact_lock(member::bigint) FROM pg_auth_members JOIN pg_roles ON roleid = pg_roles.oid WHERE rolname = $1",
    [role],
  );
}

/** Runs the work with the transaction's user a member of these roles, unless it is a superuser. */
export async function asMember(
  transaction: Queryable,
  roles: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  if (roles.length === 0) return work();
  const user = await currentUser(transaction);
  if (await isSuperuser(transaction, user)) return work();
  const [revoked, granted]: [string[], string[]] = [[], []];
  for (const role of roles) {
    // Nobody but a superuser may be a member of one.
    if (await isSuperuser(transaction, role)) continue;
    // Two roles cannot be members of each other.
    if (await revokeMembership(transaction, user, role)) revoked.push(role);
    if (await grantMembership(transaction, role, user)) granted.push(role);
  }
  await work();
  for (const role of granted) await revokeMembership(transaction, role, user);
  for (const role of revoked) if (await roleExists(transaction, role)) await grantMembership(transaction, user, role);
}

/**
 * Runs the work with the provider's user a member of the owner of a database: outside of a transaction, in which no
 * database can be made or dropped, so only a lock keeps others away.
 */
export async function asOwner(server: Server, owner: string, work: () => Promise<void>): Promise<void> {
  if (owner === "") return work();
  const { username, database } = server.settings;
  await server.transaction(
    database,
    async (lock) => {
      await lockRole(lock, username);
      const on = await server.connect();
      if (!(await grantMembership(on, owner, username))) return work();
      await work().finally(() => revokeMembership(on, owner, username));
    },
    "ROLLBACK",
  );
}

/** False when nothing had to be done. */
export async function grantMembership(on: Queryable, role: string, member: string): Promise<boolean> {
  if (role === member || (await isMember(on, role, member))) return false;
  await naming(`error granting role ${role} to ${member}`, () =>
    on.query(`GRANT ${identifier(role)} TO ${identifier(member)}`),
  );
  return true;
}

/** False when nothing had to be done. */
export async function revokeMembership(on: Queryable, role: string, member: string): Promise<boolean> {
  if (role === member || !(await isMember(on, role, member))) return false;
  await naming(`error revoking role ${role} from ${member}`, () =>
    on.query(`REVOKE ${identifier(role)} FROM ${identifier(member)}`),
  );
  return true;
}

async function isMember(on: Queryable, role: string, member: string): Promise<boolean> {
  // Since Postgres 16 a member of a role may be one that cannot act as it.
  const column = await on.query(
    "SELECT 1 FROM information_schema.columns WHERE table_name='pg_auth_members' AND column_name = 'set_option'",
  );
  const canAct = column.length > 0 ? " AND set_option" : "";
  const rows = await on.query(
    `SELECT 1 FROM pg_auth_members WHERE pg_get_userbyid(roleid) = $1 AND pg_get_userbyid(member) = $2${canAct}`,
    [role, member],
  );
  return rows.length > 0;
}

export async function roleExists(on: Queryable, role: string): Promise<boolean> {
  return (await on.query("SELECT 1 FROM pg_roles WHERE rolname=$1", [role])).length > 0;
}
