import { spawn } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { findEngine } from "../../../tools/engine/engine.ts";
import { run } from "../../../tools/run.ts";
import { makeScratch } from "../../support/scratch.ts";

/** A Pulumi program of a test, on a stack of its own. */
export interface Program {
  /** Runs the engine, e.g. `up`, on this program; all that it prints, and how it ended. */
  pulumi(command: Command, source?: string): Promise<{ code: number; output: string }>;
  state(): Promise<StateResource[]>;
  outputs(): Promise<Record<string, unknown>>;
  remove(): Promise<void>;
}

type Command = "up" | "preview" | "refresh" | "destroy";

export interface StateResource {
  type: string;
  urn: string;
  id: string;
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown>;
}

/**
 * @param plugins the folder that has the stand-ins for plugins
 * @param parts folders of this project that its dynamic providers are loaded from
 */
export async function makeProgram(
  plugins: string,
  variables: Record<string, string>,
  parts: readonly string[] = [],
): Promise<Program> {
  const scratch = await makeScratch();
  const folder = (name: string): string => join(scratch.state, name);
  await mkdir(folder("backend"));
  for (const name of ["node_modules", ...parts]) await symlink(join(process.cwd(), name), folder(name));
  await writeFile(folder("package.json"), JSON.stringify({ type: "module", main: "index.ts" }));
  await writeFile(folder("Pulumi.yaml"), "name: tiny\nruntime: {name: nodejs, options: {typescript: false}}\n");
  await writeFile(folder("index.ts"), "");
  const path = [plugins, join(process.cwd(), "node_modules", ".bin"), await findEngine(), process.env.PATH ?? ""];
  const env = {
    ...process.env,
    ...variables,
    PATH: path.join(delimiter),
    PULUMI_HOME: folder("home"),
    PULUMI_BACKEND_URL: `file://${folder("backend")}`,
    PULUMI_CONFIG_PASSPHRASE: "a passphrase",
    PULUMI_SKIP_UPDATE_CHECK: "1",
    NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
  };
  const options = { cwd: scratch.state, env };
  await run("pulumi", ["stack", "init", "dev", "--non-interactive"], options);
  return {
    async pulumi(command, source) {
      if (source !== undefined) await writeFile(folder("index.ts"), source);
      const consent = command === "preview" ? [] : ["--yes", "--skip-preview"];
      const child = spawn("pulumi", [command, "--stack", "dev", "--non-interactive", "--diff", ...consent], options);
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => (output += text));
      const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
      return { code: code ?? 1, output };
    },
    async state() {
      const exported = await run("pulumi", ["stack", "export", "--stack", "dev"], options);
      return (JSON.parse(exported) as { deployment: { resources?: StateResource[] } }).deployment.resources ?? [];
    },
    async outputs() {
      const shown = await run("pulumi", ["stack", "output", "--stack", "dev", "--json", "--show-secrets"], options);
      return JSON.parse(shown) as Record<string, unknown>;
    },
    remove: () => scratch.remove(),
  };
}
