import { execFile } from "node:child_process";
import { chmod, copyFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { UserError } from "../../clients/errors.ts";
import { say, version } from "./release.ts";
import { run } from "../run.ts";

const sdk = "github.com/pulumi/pulumi/sdk/v3";
/** The `go` line of cli/go.mod, which is what Pulumi's own modules ask for. */
const oldestGo = "1.26.6";

/**
 * Fills `bin` with an engine compiled from the Go modules pinned in cli/go.mod and nodejs-host/go.mod: the CLI, the
 * last Node.js language host that was part of a Go module (3.66.0, which serves today's CLI and SDK), and the script
 * that starts dynamic providers.
 *
 * @param path where `go` is looked for.
 */
export async function build(bin: string, path: string): Promise<void> {
  await requireGo(path);
  say(`building Pulumi ${version} from Go modules (once; 3 to 8 minutes on two cores, about 400 MB of sources)`);
  const started = Date.now();
  const elapsed = (): number => Math.round((Date.now() - started) / 1000);
  const progress = setInterval(() => say(`still building, ${elapsed()} s so far`), 30_000);
  try {
    await compile("nodejs-host", `${sdk}/nodejs/cmd/pulumi-language-nodejs`, bin, path);
    await compile("cli", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", bin, path);
    await copyDynamicProviderScript(bin, path);
  } finally {
    clearInterval(progress);
  }
  say(`built in ${elapsed()} s`);
}

async function requireGo(path: string): Promise<void> {
  const remedies =
    `Install Pulumi ${version} or newer (https://www.pulumi.com/docs/install/), ` +
    `or Go ${oldestGo} or newer (https://go.dev/dl/), and run the same command again.`;
  let found: string;
  try {
    const { stdout } = await promisify(execFile)("go", ["env", "GOVERSION"], { env: goEnvironment(path) });
    found = stdout.trim();
  } catch {
    throw new UserError(
      `There is no Pulumi ${version} on PATH or in the cache, none can be downloaded, and there is no Go to build it. ${remedies}`,
    );
  }
  const [, major, minor, patch] = /^go(\d+)\.(\d+)(?:\.(\d+))?/.exec(found) ?? [];
  const [wantedMajor, wantedMinor, wantedPatch] = oldestGo.split(".");
  const number = (a?: string, b?: string, c?: string): number => Number(a) * 1e6 + Number(b) * 1e3 + Number(c ?? 0);
  if (!(number(major, minor, patch) >= number(wantedMajor, wantedMinor, wantedPatch))) {
    throw new UserError(
      `Building Pulumi ${version} takes Go ${oldestGo} or newer; \`go\` on PATH is ${found}. ${remedies}`,
    );
  }
}

function compile(module: string, command: string, bin: string, path: string): Promise<string> {
  const linker = `-s -w -X ${sdk}/go/common/version.Version=v${version}`;
  return run("go", ["build", "-trimpath", "-ldflags", linker, "-o", bin, command], {
    cwd: join(import.meta.dirname, module),
    env: goEnvironment(path),
  });
}

async function copyDynamicProviderScript(bin: string, path: string): Promise<void> {
  const module = await run("go", ["list", "-m", "-f", "{{.Dir}}", sdk], {
    cwd: join(import.meta.dirname, "cli"),
    env: goEnvironment(path),
  });
  const script = "pulumi-resource-pulumi-nodejs";
  await copyFile(join(module.trim(), "nodejs", "dist", script), join(bin, script));
  await chmod(join(bin, script), 0o755);
}

/** The pins decide, whatever the person's own Go settings; without cgo the result does not depend on a C library. */
function goEnvironment(path: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: path,
    GOFLAGS: "-mod=readonly -buildvcs=false",
    GOTOOLCHAIN: "local",
    GOWORK: "off",
    CGO_ENABLED: "0",
  };
}
