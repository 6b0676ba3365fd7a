/** The thread of a Worker: loads its module, then answers requests with it. */
import { parentPort, workerData } from "node:worker_threads";
import type { ThreadData, ThreadMessage, WorkerAnswer, WorkerRequest } from "./workerThread.ts";

interface Module {
  default?: { fetch?(request: Request, env: unknown, context: object): Response | Promise<Response> };
}

const { source, env } = workerData as ThreadData;
const say = (message: ThreadMessage): void => parentPort!.postMessage(message);
const context = { waitUntil: () => undefined, passThroughOnException: () => undefined };

const module = await load();
if (module !== undefined) {
  const handlers = Object.keys(module.default ?? {});
  say({ ready: handlers });
  parentPort!.on("message", ({ id, request }: { id: number; request: WorkerRequest }) => {
    answer(module, request).then(
      (answered) => say({ id, answer: answered }),
      (error: unknown) => say({ id, error: String(error) }),
    );
  });
}

async function load(): Promise<Module | undefined> {
  try {
    return (await import(source)) as Module;
  } catch (error) {
    say({ failed: String(error) });
    return undefined;
  }
}

async function answer({ default: handlers }: Module, request: WorkerRequest): Promise<WorkerAnswer> {
  if (handlers?.fetch === undefined) throw new Error("Handler does not export a fetch() function.");
  const { method, url, headers, body } = request;
  const hasBody = !["GET", "HEAD"].includes(method);
  const given = new Request(url, { method, headers, ...(hasBody && { body: Buffer.from(body) }) });
  const response = await handlers.fetch(given, env, context);
  return {
    status: response.status,
    headers: [...response.headers],
    body: new Uint8Array(await response.arrayBuffer()),
  };
}
