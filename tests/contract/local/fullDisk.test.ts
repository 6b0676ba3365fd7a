import { execFileSync } from "node:child_process";
import { mkdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort, isPortFree } from "../../../platforms/local/ports.ts";
import postgresCluster from "../../../providers/local/postgresCluster.provider.ts";
import { stopAll } from "../../../platforms/local/processes.ts";
import processProvider from "../../../providers/local/process.provider.ts";
import { makeScratch, randomPassword, type Scratch } from "../../support/scratch.ts";

let scratch: Scratch;
let state: string;

/** A disk of its own, which only root can make. */
const onOwnDisk = process.getuid?.() === 0 && process.platform === "linux" ? test : test.skip;

beforeEach(async () => {
  scratch = await makeScratch();
  state = join(scratch.state, "disk");
});

afterEach(async () => {
  await stopAll(state);
  execFileSync("umount", [state]);
  await scratch.remove();
});

async function mount(megabytes: number): Promise<void> {
  await mkdir(state);
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=755`, "tmpfs", state]);
}

/** Takes all the space there is, and returns the file that holds it. */
async function fill(): Promise<string> {
  const ballast = join(state, "ballast");
  const { bavail, bsize } = await statfs(state);
  await writeFile(ballast, Buffer.alloc(bavail * bsize));
  return ballast;
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "no error",
    (error: Error) => error.message,
  );
}

onOwnDisk("Postgres says that the disk is full, and its data is made once there is room", async () => {
  await mount(100);
  const ballast = await fill();
  const inputs = {
    state,
    port: await freePort(),
    superuserPassword: randomPassword(),
    role: "lakekeeper",
    rolePassword: randomPassword(),
    database: "catalog",
  };

  expect(await failureOf(postgresCluster.create(inputs))).toMatch(/disk.* is full/);
  await rm(ballast);
  const { id, outs } = await postgresCluster.create(inputs);
  expect(outs.running).toBe(true);
  await postgresCluster.delete(id, outs);
});

onOwnDisk("a process that cannot be recorded says so and is not left running", async () => {
  await mount(1);
  const port = await freePort();
  const inputs = {
    state,
    name: "service",
    command: ["node", "tests/support/testService.ts"],
    environment: { PORT: String(port) },
    port,
    healthPath: "/-/health",
    startTimeoutSeconds: 10,
    code: [],
  };
  const ballast = await fill();

  expect(await failureOf(processProvider.create(inputs))).toMatch(/disk.* is full/);
  expect(await isPortFree(port)).toBe(true);
  await rm(ballast);
  const { id, outs } = await processProvider.create(inputs);
  expect(outs.running).toBe(true);
  await processProvider.delete(id, outs);
});
