import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Script } from "./workers.ts";

export interface WorkerRequest {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  body: Uint8Array;
}

export interface WorkerAnswer {
  status: number;
  headers: [name: string, value: string][];
  body: Uint8Array;
}

/** What a thread is given, and what it says. */
export interface ThreadData {
  source: string;
  env: Record<string, unknown>;
}
export type ThreadMessage =
  { ready: string[] } | { failed: string } | { id: number; answer: WorkerAnswer } | { id: number; error: string };

/** A module Worker in a thread of its own, with Node's Request and Response, which are those of the web. */
export class WorkerThread {
  readonly handlers: string[];
  readonly #thread: Worker;
  readonly #waiting = new Map<number, (message: ThreadMessage) => void>();
  #last = 0;

  private constructor(thread: Worker, handlers: string[]) {
    this.#thread = thread;
    this.handlers = handlers;
    thread.on("message", (message: ThreadMessage) => {
      if ("id" in message) this.#waiting.get(message.id)?.(message);
    });
  }

  /** Rejects with what was thrown when the module was loaded. */
  static async start({ content, metadata }: Pick<Script, "content" | "metadata">): Promise<WorkerThread> {
    const source = `data:text/javascript;base64,${Buffer.from(content).toString("base64")}`;
    const env = Object.fromEntries(
      (metadata.bindings ?? []).map((each) => [each.name, each.type === "json" ? each.json : each.text]),
    );
    const thread = new Worker(join(import.meta.dirname, "workerMain.ts"), {
      workerData: { source, env } satisfies ThreadData,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 32 },
    });
    thread.unref();
    const [message] = (await once(thread, "message")) as [ThreadMessage];
    if ("ready" in message) return new WorkerThread(thread, message.ready);
    await thread.terminate();
    throw new Error("failed" in message ? message.failed : "unexpected message");
  }

  /** Rejects with what the handler threw. */
  async fetch(request: WorkerRequest): Promise<WorkerAnswer> {
    const id = ++this.#last;
    const message = await new Promise<ThreadMessage>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#thread.postMessage({ id, request });
    });
    this.#waiting.delete(id);
    if ("answer" in message) return message.answer;
    throw new Error("error" in message ? message.error : "unexpected message");
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
