import { CatalogError } from "../http/errors.ts";
import { uuid7 } from "../ids.ts";
import type { StorageCredential } from "../storage/credential.ts";
import type { Database, Queryable } from "./database.ts";

const cacheMilliseconds = 600_000;
const graceMilliseconds = 10_000;

/** Storage credentials, encrypted in Postgres with the key the server was started with. */
export class SecretStore {
  private readonly cache = new Map<string, { until: number; credential: StorageCredential }>();
  private readonly database: Database;
  private readonly key: string;

  constructor(database: Database, key: string) {
    this.database = database;
    this.key = key;
  }

  async insert(client: Queryable, credential: StorageCredential): Promise<string> {
    const id = uuid7();
    await client.query(
      "INSERT INTO secret (secret_id, secret) VALUES ($1, pgp_sym_encrypt($2, $3, 'cipher-algo=aes256'))",
      [id, JSON.stringify(credential), this.key],
    );
    return id;
  }

  async delete(client: Queryable, id: string): Promise<void> {
    await client.query("DELETE FROM secret WHERE secret_id = $1", [id]);
    // Whoever began with it may finish: a new credential is stored while others read.
    const cached = this.cache.get(id);
    if (cached !== undefined) cached.until = Math.min(cached.until, Date.now() + graceMilliseconds);
  }

  /** Throws 500 SecretFetchError when the secret was written under another key. */
  async read(id: string | null): Promise<StorageCredential | null> {
    if (id === null) return null;
    const cached = this.cache.get(id);
    if (cached !== undefined && cached.until > Date.now()) return cached.credential;
    try {
      const { rows } = await this.database.read.query<{ secret: string }>(
        "SELECT pgp_sym_decrypt(secret, $2, 'cipher-algo=aes256') AS secret FROM secret WHERE secret_id = $1",
        [id, this.key],
      );
      const credential = JSON.parse(rows[0]?.secret ?? "") as StorageCredential;
      this.cache.set(id, { until: Date.now() + cacheMilliseconds, credential });
      return credential;
    } catch {
      throw new CatalogError(500, "SecretFetchError", "Error fetching secret");
    }
  }
}
