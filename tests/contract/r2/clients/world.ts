import { accountId, bucket, parentKeys, signer, startTestR2, token, type Keys, type TestR2 } from "../support.ts";

/** Whose keys a client has: the account's API token, what was derived from it, and what must not be accepted. */
export type Role = "parent" | "scoped" | "reader" | "expired" | "orphaned" | "wrong" | "stranger";

export type Send = (method: string, key: string, body?: string) => Promise<Response>;

export interface World {
  r2: TestR2;
  credentials: Record<Role, Keys>;
  /** A request that the emulator is known to answer, to prepare and to look. */
  send: Send;
}

export const MiB = 1024 * 1024;
/** More than one page of a listing. */
export const many = Array.from({ length: 1005 }, (_, index) => `${index}`.padStart(4, "0"));

const objects: Record<string, string> = {
  "shared/tree/a": "1",
  "shared/tree/b/1": "2",
  "shared/tree/b/c/2": "3",
  "shared/digits": "0123456789",
  "table/data": "inside",
  "elsewhere/data": "outside",
};

export async function startWorld(): Promise<World> {
  const r2 = await startTestR2();
  const send: Send = (method, key, body) =>
    signer().fetch(`${r2.url}/${bucket}/${key}`, { method, ...(body !== undefined && { body }) });
  for (const [key, body] of Object.entries(objects)) await send("PUT", key, body);
  for (let start = 0; start < many.length; start += 50)
    await Promise.all(many.slice(start, start + 50).map((name) => send("PUT", `shared/many/${name}`, name)));
  return { r2, credentials: await makeCredentials(r2), send };
}

async function makeCredentials(r2: TestR2): Promise<Record<Role, Keys>> {
  /** Temporary credentials for an hour and the prefix `table/`, from Cloudflare's API. */
  async function mint(permission: string, parent: { id: string; value: string } = token): Promise<Keys> {
    const body = { bucket, parentAccessKeyId: parent.id, permission, ttlSeconds: 3600, prefixes: ["table/"] };
    const answer = await fetch(`${r2.url}/client/v4/accounts/${accountId}/r2/temp-access-credentials`, {
      method: "POST",
      headers: { authorization: `Bearer ${parent.value}` },
      body: JSON.stringify(body),
    });
    return ((await answer.json()) as { result: Keys }).result;
  }
  const revoked = { id: "8".repeat(32), value: "to-be-revoked", permission: "admin-read-write" } as const;
  r2.addToken(revoked);
  const orphaned = await mint("object-read-write", revoked);
  r2.revokeToken(revoked.id);
  r2.clock.offset = -7200;
  const expired = await mint("object-read-write");
  r2.clock.offset = 0;
  return {
    parent: parentKeys,
    scoped: await mint("object-read-write"),
    reader: await mint("object-read-only"),
    expired,
    orphaned,
    wrong: { ...parentKeys, secretAccessKey: "0".repeat(64) },
    stranger: { ...parentKeys, accessKeyId: "9".repeat(32) },
  };
}
