import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../../clients/errors.ts";

/**
 * Runs `work` while no other process of this machine runs work under the same path. The lock is a listening socket, so
 * the kernel lets go of it when its holder dies.
 */
export async function withLock<T>(path: string, work: () => Promise<T>, { patienceSeconds = 120 } = {}): Promise<T> {
  const deadline = Date.now() + patienceSeconds * 1_000;
  let release = await tryLock(path);
  if (!release) console.log(`waiting for another run that works on ${path}`);
  while (!release) {
    if (Date.now() > deadline) {
      throw new UserError(`Another run has been working on ${path} for ${patienceSeconds} s. Wait for it or stop it.`);
    }
    await delay(50);
    release = await tryLock(path);
  }
  try {
    return await work();
  } finally {
    await release();
  }
}

/** Takes the same lock if nobody has it, and gives what lets go of it; undefined when somebody has it. */
export async function tryLock(path: string): Promise<(() => Promise<void>) | undefined> {
  const name = `lakekeeper-stack-${createHash("sha256").update(resolve(path)).digest("hex").slice(0, 24)}`;
  const lock = await take(name);
  return lock && (() => new Promise((closed) => lock.close(() => closed())));
}

async function take(name: string): Promise<Server | undefined> {
  // Linux has socket names that are no files; elsewhere the file of a dead holder has to be removed.
  const path = process.platform === "linux" ? `\0${name}` : join(tmpdir(), name);
  const lock = await listen(path);
  if (lock || process.platform === "linux" || (await answers(path))) return lock;
  await rm(path, { force: true });
  return listen(path);
}

function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(undefined) : reject(error),
    );
    server.listen(path, () => resolve(server));
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
