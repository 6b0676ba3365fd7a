import type { DatabaseSync } from "node:sqlite";

/** A record as the API shows it. */
export interface DnsRecord {
  id: string;
  name: string;
  type: string;
  content?: string;
  [field: string]: unknown;
}

/** The DNS records of all zones. Nobody is told of them: they are only kept. */
export class DnsRecords {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  list(zone: string): DnsRecord[] {
    const rows = this.#database.prepare("SELECT document FROM dns_records WHERE zone = ? ORDER BY rowid").all(zone);
    return rows.map((row) => JSON.parse(String(row["document"])) as DnsRecord);
  }

  find(zone: string, id: string): DnsRecord | undefined {
    return this.list(zone).find((record) => record.id === id);
  }

  save(zone: string, record: DnsRecord): void {
    this.#database
      .prepare(
        "INSERT INTO dns_records (id, zone, document) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET document = excluded.document",
      )
      .run(record.id, zone, JSON.stringify(record));
  }

  delete(id: string): void {
    this.#database.prepare("DELETE FROM dns_records WHERE id = ?").run(id);
  }
}
