import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { WorkerThread, type WorkerAnswer, type WorkerRequest } from "./workerThread.ts";

/** A script of the account. */
export interface Script {
  name: string;
  /** The part of the upload that holds the module, e.g. `worker.mjs`. */
  module: string;
  content: string;
  metadata: ScriptMetadata;
  /** What the module handles, e.g. `fetch`. */
  handlers: string[];
  etag: string;
  /** Milliseconds since 1970. */
  created: number;
  modified: number;
  /** Whether it is served on workers.dev. */
  enabled: boolean;
  previewsEnabled: boolean;
  domains: WorkerDomain[];
}

/** A host name that leads to a script. */
export interface WorkerDomain {
  id: string;
  hostname: string;
  zoneId: string;
  zoneName: string;
}

export interface ScriptMetadata {
  bindings?: Binding[];
  compatibility_date?: string;
  compatibility_flags?: string[];
  logpush?: boolean;
  observability?: { enabled: boolean };
  usage_model?: string;
}

export type Binding =
  { name: string; type: "plain_text" | "secret_text"; text: string } | { name: string; type: "json"; json: unknown };

export class NoHandlers extends Error {
  override readonly name = "NoHandlers";
}

/** The scripts of the account, and the threads in which they run. A thread begins with the first request. */
export class Workers {
  /** Before `.workers.dev`. */
  readonly subdomain = "stand-in";
  readonly #database: DatabaseSync;
  readonly #threads = new Map<string, Promise<WorkerThread>>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  find(name: string): Script | undefined {
    const row = this.#database.prepare("SELECT document FROM workers WHERE name = ?").get(name);
    return row && scriptIn(row);
  }

  all(): Script[] {
    return this.#database.prepare("SELECT document FROM workers ORDER BY name").all().map(scriptIn);
  }

  /** The one that a host name leads to. */
  attachedTo(hostname: string): Script | undefined {
    return this.all().find(({ domains }) => domains.some((one) => one.hostname === hostname));
  }

  /** Rejects with NoHandlers or the module's own error when it is of no use; what was there before goes on then. */
  async upload(upload: Pick<Script, "name" | "module" | "content" | "metadata">, now: number): Promise<Script> {
    const thread = await WorkerThread.start(upload);
    if (thread.handlers.length === 0) {
      await thread.stop();
      throw new NoHandlers("The uploaded script has no registered event handlers.");
    }
    const before = this.find(upload.name);
    await this.#stop(upload.name);
    this.#threads.set(upload.name, Promise.resolve(thread));
    const script: Script = {
      ...upload,
      handlers: thread.handlers,
      etag: createHash("sha256").update(upload.content).digest("hex"),
      created: before?.created ?? now,
      modified: now,
      enabled: before?.enabled ?? false,
      previewsEnabled: before?.previewsEnabled ?? false,
      domains: before?.domains ?? [],
    };
    this.save(script);
    return script;
  }

  save(script: Script): void {
    this.#database.prepare("INSERT OR REPLACE INTO workers VALUES (?, ?)").run(script.name, JSON.stringify(script));
  }

  async delete(name: string): Promise<void> {
    this.#database.prepare("DELETE FROM workers WHERE name = ?").run(name);
    await this.#stop(name);
  }

  /**
   * Undefined when there is no such Worker.
   *
   * @param hostname that leads to it; without one it is asked for on workers.dev, where it may not be served
   */
  async fetch(name: string, request: WorkerRequest, hostname?: string): Promise<WorkerAnswer | undefined> {
    const script = this.find(name);
    if (script === undefined || (hostname === undefined && !script.enabled)) return undefined;
    const thread = this.#threads.get(name) ?? WorkerThread.start(script);
    this.#threads.set(name, thread);
    return (await thread).fetch(request);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads.keys()].map((name) => this.#stop(name)));
  }

  async #stop(name: string): Promise<void> {
    const thread = this.#threads.get(name);
    this.#threads.delete(name);
    await (await thread)?.stop();
  }
}

function scriptIn(row: Record<string, unknown>): Script {
  // One that an earlier emulator has kept has no domains.
  return { domains: [], ...(JSON.parse(String(row["document"])) as Omit<Script, "domains">) };
}
