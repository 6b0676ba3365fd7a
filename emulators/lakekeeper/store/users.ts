import type { Page } from "../http/paging.ts";
import type { Queryable } from "./database.ts";
import { rfc3339 } from "./time.ts";

export type UserKind = "human" | "application";

/** A user as answers show it, and its place in lists. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly kind: UserKind;
  readonly source: "create-endpoint" | "update-endpoint" | "config-call-creation";
  readonly createdAt: string;
  readonly updatedAt: string | null;
  readonly createdMicros: string;
}
type NewUser = Pick<User, "id" | "name" | "email" | "kind" | "source">;

const columns = `id, name, email, user_type AS kind, last_updated_with AS source, ${rfc3339("created_at")} AS "createdAt",
  ${rfc3339("updated_at")} AS "updatedAt", (extract(epoch FROM created_at) * 1000000)::bigint AS "createdMicros"`;

export async function findUser(client: Queryable, id: string): Promise<User | undefined> {
  const { rows } = await client.query<User>(`SELECT ${columns} FROM users WHERE id = $1`, [id]);
  return rows[0];
}

export async function listUsers(client: Queryable, page: Page): Promise<User[]> {
  const { rows } = await client.query<User>(
    `SELECT ${columns} FROM users
     WHERE (created_at, id) > (to_timestamp(0) + $1::bigint * interval '1 microsecond', $2) ORDER BY created_at, id LIMIT $3`,
    [page.afterMicros, page.afterId, page.size ?? null],
  );
  return rows;
}

/** Adds a user; undefined when it was there already. */
export async function insertUser(client: Queryable, user: NewUser): Promise<User | undefined> {
  const { rows } = await client.query<User>(
    `INSERT INTO users (id, name, email, user_type, last_updated_with) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT DO NOTHING RETURNING ${columns}`,
    [user.id, user.name, user.email, user.kind, user.source],
  );
  return rows[0];
}

export async function upsertUser(client: Queryable, user: NewUser): Promise<User> {
  const { rows } = await client.query<User>(
    `INSERT INTO users (id, name, email, user_type, last_updated_with) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (id) DO UPDATE SET name = $2, email = $3, user_type = $4, last_updated_with = $5, updated_at = clock_timestamp()
     RETURNING ${columns}`,
    [user.id, user.name, user.email, user.kind, user.source],
  );
  return rows[0]!;
}

export async function deleteUser(client: Queryable, id: string): Promise<boolean> {
  return (await client.query("DELETE FROM users WHERE id = $1", [id])).rowCount === 1;
}
