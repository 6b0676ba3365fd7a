import { spawnSync } from "node:child_process";

const preload = "./tools/engine/require-node.cjs";

/** Runs the preload in a process that takes itself for Node.js `version`. */
function startedBy(version: string): { status: number | null; stderr: string; stdout: string } {
  const script = `
    Object.defineProperty(process, "version", { value: "v${version}" });
    Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });
    require("${preload}");
    console.log("the program");`;
  return spawnSync(process.execPath, ["--input-type=commonjs", "-e", script], { encoding: "utf8" });
}

test("an old Node.js is told in one sentence, with the engine's exit code for that", () => {
  const { status, stderr, stdout } = startedBy("20.20.2");
  expect(stdout).toBe("");
  expect(stderr).toMatch(
    /^This program needs Node\.js 24 or newer, and node on PATH is v20\.20\.2 \(\/.*\)\. .*make up.*\n$/,
  );
  expect(status).toBe(32);
});

test.each(["24.0.0", "26.1.0"])("Node.js %s goes on to the program", (version) => {
  expect(startedBy(version)).toMatchObject({ status: 0, stdout: "the program\n", stderr: "" });
});
