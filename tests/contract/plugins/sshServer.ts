import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, openSync, closeSync, statSync, writeSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import ssh2, { type Connection, type ServerConfig, type Session } from "ssh2";

// Not by their names: Node.js finds none in this CommonJS module.
const { Server, utils } = ssh2;

const { STATUS_CODE } = utils.sftp;

export interface SshServer {
  readonly port: number;
  /** In SSH's own form. */
  readonly hostKey: string;
  readonly rsaHostKey: string;
  /** What lets `root` in. */
  readonly clientKey: string;
  close(): Promise<void>;
}

/** A key that nobody knows, with its public half. */
export function newKey(passphrase?: string): { private: string; public: string } {
  if (passphrase === undefined) return utils.generateKeyPairSync("ed25519");
  return utils.generateKeyPairSync("ed25519", { passphrase, cipher: "aes256-cbc", rounds: 1 });
}

/**
 * An SSH server on loopback as sshd is by default: it lets `root` in by key alone, runs commands in a shell of this
 * machine, takes no variable but OKVAR, and has SFTP and forwarding.
 *
 * @param clientKeys public keys beside that of `clientKey`
 */
export async function startSshServer(clientKeys: readonly string[] = []): Promise<SshServer> {
  const host = newKey();
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs1", format: "pem" });
  const client = newKey();
  const known = [client.public, ...clientKeys].map(
    (key) => [utils.parseKey(key)].flat()[0] as { getPublicSSH(): Buffer },
  );
  const open = new Set<Connection>();
  const algorithms = {
    serverHostKey: ["ssh-ed25519", "rsa-sha2-512", "rsa-sha2-256"],
  } satisfies ServerConfig["algorithms"];
  const server = new Server({ hostKeys: [host.private, rsa.toString()], algorithms }, (connection) => {
    open.add(connection);
    connection.on("close", () => open.delete(connection));
    // Whoever is refused hangs up.
    connection.on("error", () => undefined);
    connection.on("authentication", (attempt) => {
      const isKnown =
        attempt.method === "publickey" && known.some((key) => key.getPublicSSH().equals(attempt.key.data));
      if (isKnown && attempt.username === "root") attempt.accept();
      else attempt.reject(["publickey"]);
    });
    connection.on("tcpip", (accept, _reject, { destIP, destPort }) => {
      const socket = connect(destPort, destIP);
      const channel = accept();
      channel.pipe(socket).pipe(channel);
      for (const end of [socket, channel]) end.on("error", () => undefined);
    });
    connection.on("session", (accept) => serve(accept()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    hostKey: host.public,
    rsaHostKey: `ssh-rsa ${publicOf(rsa.toString())}`,
    clientKey: client.private,
    async close() {
      for (const connection of open) connection.end();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function publicOf(privateKey: string): string {
  const [key] = [utils.parseKey(privateKey)].flat() as { getPublicSSH(): Buffer }[];
  return key!.getPublicSSH().toString("base64");
}

function serve(session: Session): void {
  const environment: Record<string, string> = {};
  session.on("env", (accept, reject, { key, val }) => {
    if (key !== "OKVAR") return (reject as (() => void) | undefined)?.();
    environment[key] = val;
    (accept as (() => void) | undefined)?.();
  });
  session.on("exec", (accept, _reject, { command }) => {
    const channel = accept();
    const child = spawn("/bin/sh", ["-c", command], { env: { PATH: process.env.PATH, ...environment } });
    channel.pipe(child.stdin);
    child.stdin.on("error", () => undefined);
    child.stdout.on("data", (chunk: Buffer) => channel.write(chunk));
    child.stderr.on("data", (chunk: Buffer) => channel.stderr.write(chunk));
    child.on("close", (code, signal) => {
      if (signal === null) channel.exit(code ?? 0);
      else channel.exit(signal.replace("SIG", ""));
      channel.end();
    });
  });
  session.on("sftp", (accept) => {
    const sftp = accept();
    const handles = new Map<number, number>();
    const answer = (id: number, work: () => void): void => {
      try {
        work();
        sftp.status(id, STATUS_CODE.OK);
      } catch {
        sftp.status(id, STATUS_CODE.NO_SUCH_FILE);
      }
    };
    const fileOf = (handle: Buffer): number => handles.get(handle.readUInt32BE(0))!;
    sftp.on("STAT", (id, path) => {
      try {
        const { mode, uid, gid, size, atimeMs, mtimeMs } = statSync(path);
        sftp.attrs(id, { mode, uid, gid, size, atime: atimeMs / 1_000, mtime: mtimeMs / 1_000 });
      } catch {
        sftp.status(id, STATUS_CODE.NO_SUCH_FILE);
      }
    });
    sftp.on("MKDIR", (id, path) => answer(id, () => mkdirSync(path)));
    sftp.on("OPEN", (id, path, _flags, { mode }) => {
      try {
        const number = handles.size + 1;
        handles.set(number, openSync(path, "w", mode));
        const handle = Buffer.alloc(4);
        handle.writeUInt32BE(number, 0);
        sftp.handle(id, handle);
      } catch {
        sftp.status(id, STATUS_CODE.NO_SUCH_FILE);
      }
    });
    sftp.on("WRITE", (id, handle, offset, data) =>
      answer(id, () => void writeSync(fileOf(handle), data, 0, data.length, offset)),
    );
    sftp.on("FSETSTAT", (id) => answer(id, () => undefined));
    sftp.on("CLOSE", (id, handle) => answer(id, () => closeSync(fileOf(handle))));
  });
}
