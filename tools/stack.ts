import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { UserError } from "../clients/errors.ts";
import { findEngine } from "./engine/engine.ts";

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
  const engine = await findEngine();
  const path = [join(checkout, "node_modules", ".bin"), engine, process.env.PATH ?? ""].join(delimiter);
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    PATH: path,
    PULUMI_STACK: name,
    PULUMI_SKIP_UPDATE_CHECK: "1",
    // The Node.js language host that can be built from Go modules passes on nothing of Pulumi.yaml's `nodeargs`.
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --disable-warning=ExperimentalWarning`.trim(),
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
  return stack.name === "local" ? "`make up`" : `\`make up STACK=${stack.name}\``;
}

/** Whether the isolated stack has been created. */
export function exists(stack: Stack): boolean {
  return existsSync(join(home, "backend", ".pulumi", "stacks", projectName(), `${stack.name}.json`));
}

/** The project's name, under which a file backend keeps its stacks. */
export function projectName(): string {
  return /^name:\s*(\S+)/m.exec(readFileSync(join(checkout, "Pulumi.yaml"), "utf8"))?.[1] ?? "";
}

/** Creates an isolated stack with its passphrase, once, and brings its copy of the settings up to date. */
export async function prepare(stack: Stack): Promise<void> {
  for (const folder of [project, join(home, "home"), join(home, "backend")]) mkdirSync(folder, { recursive: true });
  const passphrase = join(home, "passphrase");
  if (!existsSync(passphrase)) {
    writeFileSync(passphrase, randomBytes(32).toString("base64url"), { mode: 0o600, flag: "wx" });
  }
  copySettings(stack);
  // Run in the copy of the project, for it writes the passphrase's salt into the settings it finds beside Pulumi.yaml.
  if (!exists(stack)) await pulumi(stack, ["stack", "init", stack.name, "--no-select"], project);
}

/**
 * Pulumi writes the salt of the passphrase into the settings file of the stack. The salt belongs to this checkout and
 * not into the tracked file, so the engine is given a copy: the tracked settings plus the salt that the copy has.
 */
function copySettings(stack: Stack): void {
  writeFileSync(join(project, "Pulumi.yaml"), readFileSync(join(checkout, "Pulumi.yaml")));
  const file = `Pulumi.${stack.name}.yaml`;
  const copy = settingsCopy(stack);
  const salt = existsSync(copy) ? /^encryptionsalt:.*$/m.exec(readFileSync(copy, "utf8"))?.[0] : undefined;
  const tracked = existsSync(join(checkout, file)) ? readFileSync(join(checkout, file), "utf8") : "";
  // An emulated stack is not encrypted with what the operator's real one is.
  const own =
    stack.name === "local" ? tracked : tracked.replace(/^(encryptionsalt|secretsprovider|encryptedkey):.*\n?/gm, "");
  const complete = salt === undefined || /^encryptionsalt:/m.test(own);
  writeFileSync(copy, complete ? own : `${own.trimEnd()}\n${salt}\n`);
}

function settingsCopy(stack: Stack): string {
  return join(project, `Pulumi.${stack.name}.yaml`);
}

/** What makes a command of the engine work on this stack. */
export function stackArguments(stack: Stack): string[] {
  return stack.isolated ? ["--stack", stack.name, "--config-file", settingsCopy(stack)] : ["--stack", stack.name];
}

/**
 * Runs `pulumi` at this terminal.
 *
 * @throws EngineFailed when it fails; it has told why.
 */
export async function pulumi(stack: Stack, args: readonly string[], cwd: string = checkout): Promise<void> {
  const child = spawn("pulumi", args, { cwd, env: stack.environment, stdio: "inherit" });
  const code = await new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => resolve(status ?? 1));
  });
  if (code !== 0) throw new EngineFailed(code);
}

/** The engine has failed and has said why: only its exit code is left to pass on. */
export class EngineFailed extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`pulumi exited with ${code}`);
    this.code = code;
  }
}
