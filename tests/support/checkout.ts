import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { stopAll as stopContainers } from "../../emulators/railway/runtime/index.ts";
import { stopAll } from "../../platforms/local/processes.ts";
import { run } from "../../tools/run.ts";

export interface MakeResult {
  readonly code: number;
  /** Standard output and standard error as they came. */
  readonly output: string;
}

/** What `pulumi up` and the like say at their end: `{ created: 35 }`, `{ updated: 1, unchanged: 34 }`. */
export type ResourceCounts = Readonly<Record<string, number>>;

/** A `make` that is under way. */
export interface Running {
  /** Resolves once the condition on what it has printed so far holds; rejects when it ends before that. */
  until(condition: (output: string) => boolean | Promise<boolean>): Promise<void>;
  readonly result: Promise<MakeResult>;
}

/** A checkout of its own, in which `make` can be run as a newcomer runs it, on one stack. */
export interface Checkout {
  readonly directory: string;
  /** The stack's folder for state. */
  readonly state: string;
  /** Settings of the stack in place of those it had, as `{ "lakekeeper:cutover": "sql" }`. */
  configure(settings: Readonly<Record<string, unknown>>): Promise<void>;
  start(target: string, variables?: Readonly<Record<string, string>>): Running;
  make(target: string, variables?: Readonly<Record<string, string>>): Promise<MakeResult>;
  /** `make`, and an error with all it printed unless it succeeds. */
  mustMake(target: string, variables?: Readonly<Record<string, string>>): Promise<MakeResult>;
  /** A command of the engine on the stack, such as `stack export`; resolves to its standard output. */
  engine(...args: string[]): Promise<string>;
  outputs(): Promise<Record<string, unknown>>;
  /** The pid of the engine that holds the stack's lock; undefined while none does. */
  enginePid(): number | undefined;
  /** Shares the packages again after `make clean`, which takes a minute less than to install them. */
  linkPackages(): Promise<void>;
  read(path: string): Promise<string>;
  remove(): Promise<void>;
}

/**
 * Copies what the repository tracks or would track; packages are shared, everything else is the checkout's own.
 *
 * @param stack one other than `local` is emulated
 */
export async function makeCheckout(stack = "local"): Promise<Checkout> {
  const chosen = stack === "local" ? {} : { STACK: stack, EMULATED: "1" };
  const source = process.cwd();
  const directory = await mkdtemp(join(tmpdir(), "checkout-"));
  // As a usual checkout is: Postgres, which never runs as root, has to reach its data.
  await chmod(directory, 0o755);
  const listed = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: source });
  for (const file of listed.split("\0").filter((name) => name !== "")) {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    // A file that is deleted and not yet committed is listed as well.
    await cp(join(source, file), join(directory, file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
  }
  const linkPackages = (): Promise<void> => symlink(join(source, "node_modules"), join(directory, "node_modules"));
  await linkPackages();

  function start(target: string, variables: Readonly<Record<string, string>> = {}): Running {
    const all = Object.entries({ ...chosen, ...variables });
    const words = ["--silent", target, ...all.map(([name, value]) => `${name}=${value}`)];
    const child = spawn("make", words, { cwd: directory, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let ended = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    }
    const result = new Promise<MakeResult>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (status) => {
        ended = true;
        resolve({ code: status ?? 1, output });
      });
    });
    return {
      result,
      async until(condition) {
        for (; !(await condition(output)); await delay(5)) {
          if (ended) throw new Error(`make ${target} ended before that:\n${output}`);
        }
      },
    };
  }

  const make: Checkout["make"] = (target, variables) => start(target, variables).result;

  async function mustMake(target: string, variables: Readonly<Record<string, string>> = {}): Promise<MakeResult> {
    const result = await make(target, variables);
    if (result.code !== 0) throw new Error(`make ${target} exited with ${result.code}:\n${result.output}`);
    return result;
  }

  const engine = (...args: string[]): Promise<string> =>
    run(process.execPath, ["tools/pulumi.ts", ...args], { cwd: directory, env: { ...process.env, ...chosen } });

  const state = join(directory, ".state", stack);
  return {
    directory,
    state,
    async configure(settings) {
      const platform = stack === "local" ? "local" : "railway";
      const lines = Object.entries({ "lakekeeper:platform": platform, ...settings });
      const text = lines.map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`).join("");
      await writeFile(join(directory, `Pulumi.${stack}.yaml`), `config:\n${text}`);
    },
    start,
    make,
    mustMake,
    engine,
    async outputs() {
      return JSON.parse(await engine("stack", "output", "--json", "--show-secrets")) as Record<string, unknown>;
    },
    enginePid() {
      const locks = join(directory, ".state/pulumi/backend/.pulumi/locks/organization/lakekeeper", stack);
      try {
        const lock = readdirSync(locks).find((file) => file.endsWith(".json"));
        if (lock === undefined) return undefined;
        return (JSON.parse(readFileSync(join(locks, lock), "utf8")) as { pid: number }).pid;
      } catch {
        // Not made yet, or just released.
        return undefined;
      }
    },
    linkPackages,
    read: (path) => readFile(join(directory, path), "utf8"),
    async remove() {
      // Not by a command of its own, which a test may have taken the packages from.
      for (const name of await readdir(join(directory, ".state")).catch(() => [])) {
        await stopContainers(join(directory, ".state", name, "railway", "containers"));
        await stopAll(join(directory, ".state", name));
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Counts of the engine's last summary in what it printed. */
export function resourceCounts(output: string): ResourceCounts {
  const summary = output.slice(output.lastIndexOf("Resources:"));
  return Object.fromEntries<number>(
    [...summary.matchAll(/^ +(?:\S+ )?(\d+) (?:to )?([a-z-]+)$/gm)].map(([, count, what]) => [what!, Number(count)]),
  );
}
