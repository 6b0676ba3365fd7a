import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { UserError } from "../clients/errors.ts";
import { findEngine } from "./engine/engine.ts";
import { endLeftovers, mark } from "./leftovers.ts";
import { run } from "./run.ts";
import { joinSettings, keysIn, splitSettings } from "./settings.ts";

/** The folder of Pulumi.yaml. */
export const checkout = join(import.meta.dirname, "..");

/** A stack of this project and what the engine needs to work on it. */
export interface Stack {
  readonly name: string;
  /** Kept entirely inside the checkout: nothing of the operator's Pulumi is read or written. */
  readonly isolated: boolean;
  /** The environment for `pulumi`; it begins with today's. */
  readonly environment: NodeJS.ProcessEnv;
}

/** The isolated stacks' own Pulumi: home, backend, passphrase, and a copy of the project's settings. */
export const home = join(checkout, ".state", "pulumi");
export const project = join(home, "project");

/** The stack chosen by STACK (default `local`); EMULATED=1 isolates any other stack as `local` always is. */
export async function currentStack(): Promise<Stack> {
  const name = process.env.STACK || "local";
  if (!/^[A-Za-z0-9_./-]+$/.test(name)) {
    throw new UserError(`STACK is ${JSON.stringify(name)}: a stack's name has letters, digits, "_", "-" and "." only.`);
  }
  const isolated = name === "local" || process.env.EMULATED === "1";
  if (isolated && !existsSync(join(checkout, `Pulumi.${name}.yaml`))) {
    throw new UserError(
      `STACK is "${name}", and there is no Pulumi.${name}.yaml with its settings (lakekeeper:platform at least).`,
    );
  }
  const engine = await findEngine();
  const path = [join(checkout, "node_modules", ".bin"), engine, process.env.PATH ?? ""].join(delimiter);
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    PATH: path,
    PULUMI_STACK: name,
    PULUMI_SKIP_UPDATE_CHECK: "1",
    // The Node.js language host that can be built from Go modules passes on nothing of Pulumi.yaml's `nodeargs`.
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --disable-warning=ExperimentalWarning`.trim(),
    ...mark(checkout, name),
  };
  if (isolated) isolate(environment);
  return { name, isolated, environment };
}

function isolate(environment: NodeJS.ProcessEnv): void {
  for (const name of ["PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE"]) delete environment[name];
  environment.PULUMI_HOME = join(home, "home");
  environment.PULUMI_BACKEND_URL = `file://${join(home, "backend")}`;
  environment.PULUMI_CONFIG_PASSPHRASE_FILE = join(home, "passphrase");
}

/** What to type to make this stack, for messages. */
export function upCommand(stack: Stack): string {
  if (stack.name === "local") return "`make up`";
  return `\`make up STACK=${stack.name}${stack.isolated ? " EMULATED=1" : ""}\``;
}

/** Whether the isolated stack has been created. */
export function exists(stack: Stack): boolean {
  return existsSync(stateFile(stack));
}

/** Where the file backend keeps the state of an isolated stack. */
export function stateFile(stack: Stack): string {
  return join(home, "backend", ".pulumi", "stacks", projectName(), `${stack.name}.json`);
}

/** The project's name, under which a file backend keeps its stacks. */
export function projectName(): string {
  return /^name:\s*(\S+)/m.exec(readFileSync(join(checkout, "Pulumi.yaml"), "utf8"))?.[1] ?? "";
}

/**
 * Creates an isolated stack with its passphrase, once, and brings its copy of the settings up to date.
 *
 * @param mayCreate whether a stack that has no state is to be created.
 */
export async function prepare(stack: Stack, mayCreate: boolean): Promise<void> {
  for (const folder of [project, join(home, "home"), join(home, "backend")]) mkdirSync(folder, { recursive: true });
  const passphrase = join(home, "passphrase");
  if (!existsSync(passphrase)) {
    writeFileSync(passphrase, randomBytes(32).toString("base64url"), { mode: 0o600, flag: "wx" });
  }
  writeFileSync(join(project, "Pulumi.yaml"), readFileSync(join(checkout, "Pulumi.yaml")));
  copySettings(stack);
  if (exists(stack) || !mayCreate) return;
  // Run in the copy of the project, for it writes the passphrase's salt into the settings it finds beside Pulumi.yaml.
  const init = ["stack", "init", stack.name, "--no-select", "--non-interactive"];
  await run("pulumi", init, { cwd: project, env: stack.environment });
}

/**
 * The engine is given a copy of an isolated stack's settings: the tracked ones, and what only this checkout's passphrase
 * can read, which is kept in the copy alone.
 */
function copySettings(stack: Stack): void {
  const tracked = splitSettings(textOf(trackedSettings(stack)));
  if (stack.name === "local" && tracked.secrets.length > 0) {
    throw new UserError(
      `Pulumi.local.yaml holds encrypted settings, which no passphrase of this checkout can read. Remove them there and ` +
        "set them with `tools/pulumi config set --secret <key> <value>`, which keeps them in .state.",
    );
  }
  // An emulated stack cannot read what its real one has encrypted.
  writeFileSync(
    settingsCopy(stack),
    joinSettings({ ...splitSettings(textOf(settingsCopy(stack))), plain: tracked.plain }),
  );
}

/**
 * Takes over from the copy what a command has set, other than secrets.
 *
 * @throws UserError when that would put a plain setting in the place of one that the real stack has encrypted
 */
export function keepSettings(stack: Stack): void {
  const tracked = splitSettings(textOf(trackedSettings(stack)));
  const { plain } = splitSettings(textOf(settingsCopy(stack)));
  if (plain === tracked.plain) return;
  const given = new Set(keysIn(plain));
  const lost = tracked.secrets.flatMap(keysIn).filter((key) => given.has(key));
  if (lost.length > 0) {
    throw new UserError(
      `${lost.join(", ")} is encrypted in Pulumi.${stack.name}.yaml, which an emulated stack leaves as it is: ` +
        "nothing was set. Set it with --secret, which is for the emulated stack alone.",
    );
  }
  writeFileSync(trackedSettings(stack), joinSettings({ ...tracked, plain }));
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

function trackedSettings(stack: Stack): string {
  return join(checkout, `Pulumi.${stack.name}.yaml`);
}

/** The settings that the engine is given of an isolated stack. */
export function settingsCopy(stack: Stack): string {
  return join(project, `Pulumi.${stack.name}.yaml`);
}

/** What makes a command of the engine work on this stack. */
export function stackArguments(stack: Stack): string[] {
  return stack.isolated ? ["--stack", stack.name, "--config-file", settingsCopy(stack)] : ["--stack", stack.name];
}

/**
 * Runs `pulumi` at this terminal, and ends what it leaves when it is killed, as it is when nobody reads what it prints.
 *
 * @throws EngineFailed when it fails; it has told why.
 */
export async function pulumi(stack: Stack, args: readonly string[], cwd: string = checkout): Promise<void> {
  const child = spawn("pulumi", args, { cwd, env: stack.environment, stdio: "inherit" });
  const pass = (signal: NodeJS.Signals): boolean => child.kill(signal);
  // A terminal sends its interrupt to the engine as well, which then comes to an orderly end that is waited for.
  const wait = (): undefined => undefined;
  process.on("SIGINT", wait).on("SIGTERM", pass).on("SIGHUP", pass);
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (status) => resolve(status ?? 1));
    });
    if (code !== 0) throw new EngineFailed(code);
  } finally {
    process.off("SIGINT", wait).off("SIGTERM", pass).off("SIGHUP", pass);
    await endLeftovers(checkout, stack.name);
  }
}

/** The engine has failed and has said why: only its exit code is left to pass on. */
export class EngineFailed extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`pulumi exited with ${code}`);
    this.code = code;
  }
}
