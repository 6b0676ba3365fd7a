import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path/posix";
import type { SFTPWrapper } from "ssh2";
import { connect, type Connection } from "./connection.ts";

/** A text, a file or a folder, as the engine hands assets and path archives over. */
export interface Source {
  text?: string;
  path?: string;
}

/**
 * Puts a source on another machine. Folders above it are made; files get the mode 0644.
 *
 * @throws Error with the real plugin's words
 */
export async function copyToRemote(source: Source, remotePath: string, connection: Connection): Promise<void> {
  const client = await connect(connection);
  try {
    const sftp = await new Promise<SFTPWrapper>((resolve, reject) => {
      client.sftp((error, opened) => (error ? reject(error) : resolve(opened)));
    });
    if (source.path) await copyPath(sftp, source.path, remotePath);
    else await copyText(sftp, source.text ?? "", remotePath);
  } finally {
    client.end();
  }
}

async function copyText(sftp: SFTPWrapper, text: string, remotePath: string): Promise<void> {
  if (await isFolder(sftp, remotePath)) {
    throw new Error(
      `remote path ${remotePath} is a directory; when using a text asset, remotePath must be a file path`,
    );
  }
  await makeFolder(sftp, dirname(remotePath), remotePath);
  await write(sftp, remotePath, Buffer.from(text));
}

async function copyPath(sftp: SFTPWrapper, path: string, remotePath: string): Promise<void> {
  // Into a folder that is there goes the source by its own name, unless it ends with a slash.
  const isInto = !path.endsWith("/") && (await isFolder(sftp, remotePath));
  const target = isInto ? join(remotePath, basename(path)) : remotePath;
  if (!(await stat(path)).isDirectory()) {
    await makeFolder(sftp, dirname(target), target);
    await write(sftp, target, await readFile(path));
    return;
  }
  await makeFolder(sftp, target, target);
  for (const entry of await readdir(path)) await copyPath(sftp, `${join(path, entry)}`, join(target, entry));
}

async function makeFolder(sftp: SFTPWrapper, folder: string, of: string): Promise<void> {
  if (folder === "." || folder === "/" || (await isFolder(sftp, folder))) return;
  await makeFolder(sftp, dirname(folder), of);
  await new Promise<void>((resolve, reject) => {
    sftp.mkdir(folder, (error) =>
      error ? reject(new Error(`failed to create parent directories for ${of}: file does not exist`)) : resolve(),
    );
  });
}

function isFolder(sftp: SFTPWrapper, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    sftp.stat(path, (error, found) => resolve(!error && found.isDirectory()));
  });
}

function write(sftp: SFTPWrapper, path: string, content: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    sftp.writeFile(path, content, { mode: 0o644 }, (error) => (error ? reject(error) : resolve()));
  });
}
