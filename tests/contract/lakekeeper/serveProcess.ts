import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "../../../platforms/local/ports.ts";

/** `serve` as a process of its own, on a port that stays the same when it is started again. */
export interface ServeProcess {
  readonly url: string;
  /** Starts it and waits until it listens. */
  start(): Promise<void>;
  /** Ends it with this signal and waits until it is gone. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** The id of the process that runs now. */
  pid(): number;
}

export async function serveProcess(settings: Readonly<Record<string, string>>): Promise<ServeProcess> {
  const port = await freePort();
  let child: ReturnType<typeof launch> | undefined;
  function launch() {
    return spawn(process.execPath, ["emulators/lakekeeper/main.ts", "serve"], {
      env: {
        PATH: process.env["PATH"],
        ...settings,
        LAKEKEEPER__BIND_IP: "127.0.0.1",
        LAKEKEEPER__LISTEN_PORT: String(port),
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
  }
  return {
    url: `http://127.0.0.1:${port}`,
    pid: () => child!.pid!,
    async start() {
      child = launch();
      await new Promise<void>((resolve, reject) => {
        child!.stdout.on("data", (chunk: Buffer) => {
          if (chunk.includes("Listening on")) resolve();
        });
        child!.once("exit", (code) => reject(new Error(`serve ended with ${code}`)));
      });
    },
    async end(signal) {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, "exit");
    },
  };
}
