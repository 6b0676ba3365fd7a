import { randomInt } from "node:crypto";
import { readFile, readdir, readlink } from "node:fs/promises";
import { createServer } from "node:net";
import { UserError } from "../../clients/errors.ts";
import { commandOf } from "./processId.ts";

const LOOPBACK = "127.0.0.1";
/** Below the range from which Linux and macOS take the ports of outgoing connections. */
const FIRST = 20_000;
const LAST = 29_999;
const ATTEMPTS = 1_000;

export async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(false);
      else reject(new UserError(`Port ${port} on ${LOOPBACK} cannot be used: ${error.message}. Choose another port.`));
    });
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** A free port of the loopback interface that is none of `taken`. */
export async function freePort(taken: ReadonlySet<number> = new Set()): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FIRST, LAST + 1);
    if (!taken.has(port) && (await isPortFree(port))) return port;
  }
  throw new UserError(`No free port found between ${FIRST} and ${LAST} on ${LOOPBACK}. Stop what occupies them.`);
}

/**
 * @param what what is about to listen there.
 * @param remedy how the operator chooses another port.
 */
export async function requireFreePort(port: number, what: string, remedy?: string): Promise<void> {
  if (await isPortFree(port)) return;
  const pid = await listenerOn(port);
  const command = pid && (await commandOf(pid));
  const holder = pid
    ? `process ${pid}${command ? ` (${command.slice(0, 200)})` : ""}`
    : "a process that this user cannot see";
  throw new UserError(
    `Port ${port} on ${LOOPBACK}, which ${what} needs, is taken by ${holder}. ` +
      `Stop that process${pid ? ` ("kill ${pid}")` : ""}, or ${remedy ?? "choose another port"}, then run it again.`,
  );
}

/** The pid of the process that listens on a port, as far as /proc tells. */
async function listenerOn(port: number): Promise<number | undefined> {
  const tables = await Promise.all(
    ["/proc/net/tcp", "/proc/net/tcp6"].map((file) => readFile(file, "utf8").catch(() => "")),
  );
  const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
  const sockets = new Set(
    tables
      .flatMap((table) => table.split("\n").slice(1))
      .map((line) => line.trim().split(/\s+/))
      // proc_pid_net(5): local address, state (0A is LISTEN), inode.
      .filter((fields) => fields[1]?.endsWith(`:${hexPort}`) && fields[3] === "0A")
      .map((fields) => `socket:[${fields[9]}]`),
  );
  if (sockets.size === 0) return undefined;
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      if (sockets.has(await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => ""))) return Number(pid);
    }
  }
  return undefined;
}
