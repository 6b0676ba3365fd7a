import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Container, ContainerSpec, Runtime } from "../../../emulators/railway/runtime.ts";
import { localRuntime, removeVolume, stopAll } from "../../../emulators/railway/runtime/index.ts";
import { makeScratch } from "../../support/scratch.ts";

export interface Started {
  readonly container: Container;
  readonly spec: ContainerSpec;
  readonly lines: string[];
  /** Resolves once a line of the log matches. */
  said(pattern: RegExp): Promise<void>;
}

export interface RuntimeFixture {
  readonly directory: string;
  readonly volume: { mountPath: string; directory: string };
  readonly runtime: Runtime;
  /** A specification of a new deployment at an address of its own. */
  spec(image: string, more?: Partial<ContainerSpec>): ContainerSpec;
  start(spec: ContainerSpec): Promise<Started>;
  /** A second runtime, as after a restart of the emulator. */
  another(): Runtime;
  remove(): Promise<void>;
}

let last = 0;

export async function makeRuntime(): Promise<RuntimeFixture> {
  const scratch = await makeScratch();
  const directory = join(scratch.state, "containers");
  const volume = { mountPath: "/var/lib/postgresql/data", directory: join(scratch.state, "volume") };
  const lakekeeper = { download: false, binary: "" };
  const runtime = localRuntime({ directory, lakekeeper });
  const runtimes = [runtime];
  return {
    directory,
    volume,
    runtime,
    spec: (image, more) => ({
      serviceId: randomUUID(),
      serviceName: "Service",
      deploymentId: randomUUID(),
      image,
      environment: {},
      // Of this process alone: tests run side by side.
      address: `127.${((process.pid >> 8) % 250) + 2}.${process.pid % 250}.${++last}`,
      hosts: {},
      ...more,
    }),
    async start(spec) {
      const lines: string[] = [];
      return started(spec, lines, await runtime.start(spec, (line) => lines.push(line)));
    },
    another() {
      const later = localRuntime({ directory, lakekeeper });
      runtimes.push(later);
      return later;
    },
    async remove() {
      await stopAll(directory);
      await Promise.all(runtimes.map((each) => each.close()));
      await removeVolume(volume.directory);
      await scratch.remove();
    },
  };
}

function started(spec: ContainerSpec, lines: string[], container: Container): Started {
  return {
    container,
    spec,
    lines,
    async said(pattern) {
      let exitCode: number | undefined;
      void container.finished.then((end) => (exitCode = end.exitCode));
      while (!lines.some((line) => pattern.test(line))) {
        if (exitCode !== undefined) throw new Error(`ended with ${exitCode} and said:\n${lines.join("\n")}`);
        await delay(5);
      }
    },
  };
}
