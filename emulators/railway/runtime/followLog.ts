import { watch, writeFileSync } from "node:fs";
import { open, readFile } from "node:fs/promises";

const CHUNK = 65_536;

export interface FollowedLog {
  /** Delivers what is there, an unfinished last line included, and stops. */
  readonly finish: () => Promise<void>;
  /** Stops where it is: the next one to follow goes on from there. */
  readonly leave: () => Promise<void>;
}

/**
 * Delivers the lines of a file as they are written, from where the last one that followed it stopped: how far it got is
 * kept beside the file, so that a line is lost to nobody and hardly ever delivered twice.
 */
export async function followLog(path: string, onLine: (line: string) => void): Promise<FollowedLog> {
  const marker = `${path}.delivered`;
  let offset = Number(await readFile(marker, "utf8").catch(() => "0"));

  async function deliver(unfinishedToo: boolean): Promise<void> {
    await using file = await open(path);
    const buffer = Buffer.alloc(CHUNK);
    for (;;) {
      // One that is shorter has been put aside for a new one.
      if ((await file.stat()).size < offset) offset = 0;
      const { bytesRead } = await file.read(buffer, 0, CHUNK, offset);
      const whole = buffer.lastIndexOf("\n", bytesRead - 1) + 1;
      const taken = bytesRead === 0 ? 0 : whole || (unfinishedToo || bytesRead === CHUNK ? bytesRead : 0);
      if (taken === 0) return;
      offset += taken;
      for (const line of buffer.toString("utf8", 0, taken).replace(/\n$/, "").split("\n")) onLine(line);
      // Before anybody can have asked for those lines.
      writeFileSync(marker, String(offset));
    }
  }

  let delivering = Promise.resolve();
  let waiting = false;
  let left = false;
  /** One round at a time; whatever is written during one is for the next. */
  function schedule(unfinishedToo: boolean): Promise<void> {
    delivering = delivering.then(() => {
      waiting = false;
      if (left) return undefined;
      // What cannot be read now, or noted as delivered, is delivered with what comes next.
      return deliver(unfinishedToo).catch((error: NodeJS.ErrnoException) => {
        if (error.code === undefined) throw error;
      });
    });
    return delivering;
  }

  const watcher = watch(path, () => {
    if (waiting) return;
    waiting = true;
    void schedule(false);
  });
  void schedule(false);
  return {
    finish() {
      watcher.close();
      return schedule(true);
    },
    leave() {
      watcher.close();
      left = true;
      return delivering;
    },
  };
}
