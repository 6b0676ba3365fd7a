import { createHash } from "node:crypto";
import type { Properties } from "../../protocol.ts";
import type { Server } from "../server.ts";

/**
 * The password of a role: the one of the state while the server's hash does not contradict it, which a SCRAM hash never
 * does.
 */
export async function rolePassword(server: Server, found: Properties, known: unknown): Promise<unknown> {
  const { superuser, username } = server.settings;
  if (typeof known !== "string" || known === "" || found["login"] !== true || !superuser) return known;
  const on = await server.connect();
  const [user] = await on.query("SELECT rolsuper FROM pg_roles WHERE rolname = CURRENT_USER");
  if (user?.["rolsuper"] !== true) {
    throw new Error(
      `could not read role password from Postgres as connected user ${username} is not a SUPERUSER. You can set ` +
        "`superuser = false` in the provider configuration so it will not try to read the password from Postgres",
    );
  }
  const [shadow] = await on.query("SELECT COALESCE(passwd, '') FROM pg_catalog.pg_shadow AS s WHERE s.usename = $1", [
    found["name"],
  ]);
  const hash = (shadow?.["coalesce"] ?? "") as string;
  const isHash = known.startsWith("md5") || known.startsWith("SCRAM-SHA-256");
  if (isHash) return hash;
  const md5 = `md5${createHash("md5")
    .update(`${known}${String(found["name"])}`)
    .digest("hex")}`;
  return hash.startsWith("SCRAM-SHA-256") || hash === md5 ? known : hash;
}
