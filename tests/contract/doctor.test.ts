import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeCatalog, READER_TOKEN } from "../support/fakeCatalog.ts";

let catalog: FakeCatalog;
let folder: string;

beforeEach(async () => {
  catalog = await new FakeCatalog().start();
  folder = await mkdtemp(join(tmpdir(), "doctor-"));
});

afterEach(async () => {
  await catalog.stop();
  await rm(folder, { recursive: true });
});

/** How the engine exports a stack with one verification in it. */
function exported(inputs?: object): object {
  const type = "pulumi-nodejs:dynamic/lakekeeper:Verification";
  return { version: 3, deployment: { resources: inputs === undefined ? null : [{ type, inputs }] } };
}

const verified = () => catalog.inputs({ vending: "auto", writeProbe: false });

/** Runs the doctor of the stack `dev` beside an engine that exports this of it. */
async function doctor(state: object): Promise<{ code: number; stdout: string; stderr: string }> {
  await writeFile(join(folder, "state.json"), JSON.stringify(state));
  const engine = `#!/bin/sh
[ "$1" = version ] && exec echo v3.999.0
[ "$*" = "stack --show-name --non-interactive --stack dev" ] && exec echo dev
[ "$*" = "stack export --show-secrets --stack dev" ] && exec cat "${folder}/state.json"
echo "unexpected: $*" >&2; exit 1`;
  for (const program of ["pulumi", "pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"]) {
    await writeFile(join(folder, program), engine);
    await chmod(join(folder, program), 0o755);
  }
  const child = spawn("node", ["--disable-warning=ExperimentalWarning", "tools/doctor.ts", "--stack", "dev"], {
    env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (text: Buffer) => (stdout += text.toString()));
  child.stderr.on("data", (text: Buffer) => (stderr += text.toString()));
  const [code] = (await once(child, "close")) as [number];
  return { code, stdout, stderr };
}

test("prints the report of a healthy catalog and exits with 0", async () => {
  const { code, stdout, stderr } = await doctor(exported(verified()));
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^passed {3}health .* ms {2}ok\n/);
  expect(stdout).toMatch(/^passed {3}vended credentials /m);
  expect(stdout.trim().split("\n")).toHaveLength(12);
  expect(stdout).not.toContain(READER_TOKEN);
  expect(code).toBe(0);
});

test("exits with 1 and names the check that fails, also one that `up` lets pass", async () => {
  catalog.allows = () => true;
  const { code, stdout, stderr } = await doctor(exported(verified()));
  expect(stdout).toMatch(/^FAILED {3}vended: refused outside the table .*answers 404, not 403$/m);
  expect(stderr).toBe("error: Failed: vended: refused outside the table.\n");
  expect(code).toBe(1);
});

test("says plainly that the server is down, and how to start it", async () => {
  const state = exported(verified());
  await catalog.stop();
  const { code, stdout, stderr } = await doctor(state);
  expect(stdout).toMatch(/^FAILED {3}health .*ECONNREFUSED$/m);
  expect(stderr).toMatch(
    /^error: Lakekeeper at http:\S+ is not well: .*Run `make up STACK=dev` to start it again\.\n$/,
  );
  expect(code).toBe(1);
  catalog = await new FakeCatalog().start();
});

test.each([
  ["has not been brought up", exported(), /The stack dev is not up yet: run `make up STACK=dev` first/],
  ["was made by another release", exported({ uri: "x" }), /made by another release: run `make up STACK=dev`/],
])("explains a stack that %s", async (_what, state, message) => {
  const { code, stderr } = await doctor(state);
  expect(stderr).toMatch(message);
  expect(code).toBe(1);
});
