import type { IncomingMessage } from "node:http";
import { Faults } from "../faults.ts";
import type { Kinds } from "./model.ts";
import type { Store } from "./store.ts";

/** A call of the API. */
export interface Call {
  /** Its root fields, joined by commas. */
  readonly operation: string;
  readonly at: number;
}

/** Names of what an account holds that is not deleted, by kind. */
export type LiveObjects = Readonly<
  Record<keyof Pick<Kinds, "projects" | "services" | "volumes" | "domains" | "tcpProxies">, string[]>
>;

export interface AdminParts {
  readonly store: Store;
  readonly faults: Faults;
  readonly calls: readonly Call[];
  readonly mostAtOnce: number;
}

/** What the emulator tells of itself below `/-/`, and has itself told; undefined for another path. */
export async function admin(
  parts: AdminParts,
  request: IncomingMessage,
  body: () => Promise<string>,
): Promise<{ status: number; body: object } | undefined> {
  const { store, faults, calls, mostAtOnce } = parts;
  switch (`${request.method} ${request.url}`) {
    case "GET /-/health":
      return { status: 200, body: { health: "ok" } };
    case "GET /-/objects":
      return { status: 200, body: liveObjects(store) };
    case "GET /-/calls":
      return { status: 200, body: { calls: calls.length, mostAtOnce, operations: counts(calls) } };
    case "PUT /-/faults": {
      const rules = (await body()).split("\n").filter((line) => line.trim() !== "");
      try {
        new Faults(rules);
      } catch (error) {
        return { status: 400, body: { errors: [{ message: (error as Error).message }] } };
      }
      faults.clear();
      for (const rule of rules) faults.add(rule);
      return { status: 200, body: {} };
    }
    default:
      return undefined;
  }
}

/** What waits for its deletion is not among them. */
export function liveObjects(store: Store): LiveObjects {
  const pending = store.list("volumeInstances").filter((one) => one.deletionAt !== null);
  const isPending = (id: string): boolean => pending.some(({ volumeId }) => volumeId === id);
  const projects = store.list("projects").filter(({ deletionAt }) => deletionAt === null);
  return {
    projects: projects.map(({ name }) => name),
    services: store.list("services").map(({ name }) => name),
    volumes: store
      .list("volumes")
      .filter(({ id }) => !isPending(id))
      .map(({ name }) => name),
    domains: store.list("domains").map(({ domain }) => domain),
    tcpProxies: store.list("tcpProxies").map(({ applicationPort }) => String(applicationPort)),
  };
}

function counts(calls: readonly Call[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { operation } of calls) found[operation] = (found[operation] ?? 0) + 1;
  return found;
}
