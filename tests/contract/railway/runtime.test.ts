import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isAlive, startTimeOf } from "../../../platforms/local/processId.ts";
import { run } from "../../../tools/run.ts";
import { makeRuntime, type RuntimeFixture, type Started } from "./runtime.fixture.ts";

const NODE = "docker.io/library/node:24.9.0-alpine";

let fixture: RuntimeFixture;

beforeEach(async () => {
  fixture = await makeRuntime();
});

afterEach(() => fixture.remove());

/** Runs a program as the issuer runs: in a variable of Node's own, for a start command meets no shell. */
function program(code: string, environment: Record<string, string> = {}): Promise<Started> {
  const source = `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`;
  return fixture.start(
    fixture.spec(NODE, {
      startCommand: "node -e 0",
      environment: { NODE_OPTIONS: `--import=${source}`, ...environment },
    }),
  );
}

const SERVER = `
import { createServer } from "node:http";
createServer(({ url, headers }, response) => response.writeHead(url === "/health" ? 200 : 404).end(headers.host))
  .listen(8080, process.env.BIND, () => console.log("listening on", process.env.BIND));
`;

test.each([
  ["alpine:3", /^Failed to pull alpine:3: repository docker\.io\/library\/alpine does not exist/],
  ["quay.io/lakekeeper/catalog:v0.13.2", /manifest unknown \(no tag v0\.13\.2\)/],
  ["quay.io/lakekeeper/catalog", /manifest unknown \(no tag latest\)/],
  ["ghcr.io/railwayapp-templates/postgres-ssl:12", /manifest unknown \(no tag 12\)/],
  ["node:banana", /manifest unknown \(no tag banana\)/],
])("%s cannot be pulled", async (image, reason) => {
  await expect(fixture.start(fixture.spec(image))).rejects.toThrow(reason);
});

test("the name of an image on Docker Hub needs no registry", async () => {
  const { container } = await fixture.start(fixture.spec("node:24", { startCommand: "node -e process.exit(3)" }));

  await expect(container.finished).resolves.toEqual({ exitCode: 3 });
});

test("a start command is split at blanks and meets no shell", async () => {
  const spec = fixture.spec(NODE, { startCommand: "node  -p process.argv.slice(1) $HOME 'a b' && true" });
  const { container, lines } = await fixture.start(spec);

  await container.finished;
  expect(lines.join("")).toBe(`[ '$HOME', "'a", "b'", '&&', 'true' ]`);
});

test("a start command that the image does not hold is told in the log", async () => {
  const { container, lines } = await fixture.start(fixture.spec(NODE, { startCommand: "sh -c true" }));

  await expect(container.finished).resolves.toEqual({ exitCode: 127 });
  expect(lines).toEqual(["The executable `sh` could not be found."]);
});

test("each container has all ports to itself, on its address", async () => {
  const [one, two] = await Promise.all([program(SERVER, { BIND: "::" }), program(SERVER, { BIND: "0.0.0.0" })]);
  for (const each of [one, two]) await each.said(/^listening/);

  expect(one.lines).toEqual([`listening on ${one.spec.address}`]);
  expect(await one.container.probe("/health", 8080)).toBe(200);
  expect(await two.container.probe("/elsewhere", 8080)).toBe(404);
  expect(await one.container.probe("/health", 8081)).toBeUndefined();
});

test("an address that this machine has not, as on macOS, is told with the remedy", async () => {
  // Reserved for documentation: no machine has it.
  const spec = fixture.spec(NODE, { startCommand: "node -e 0", address: "192.0.2.1" });

  await expect(fixture.start(spec)).rejects.toThrow(
    /192\.0\.2\.1 on this machine: .*on macOS add it with "sudo ifconfig lo0/s,
  );
});

test("private names are those of the project's services, wherever they stand in a variable", async () => {
  const environment = {
    URL: "http://issuer.railway.internal:80/a?b=issuer.railway.internal",
    OTHER: "x.railway.internal",
  };
  const spec = fixture.spec(NODE, {
    startCommand: "node -p [process.env.URL,process.env.OTHER].join()",
    environment,
    hosts: { issuer: "127.9.9.9" },
  });
  const { container, lines } = await fixture.start(spec);

  await container.finished;
  expect(lines).toEqual(["http://127.9.9.9:80/a?b=127.9.9.9,x.railway.internal"]);
});

test("lines are delivered while the container runs, with the severity that they name", async () => {
  const lines: [string, string | undefined][] = [];
  const spec = fixture.spec(NODE, { startCommand: `node -p '{"level":"ERROR","x":1}'\\nplain` });
  const code = `console.log(JSON.stringify({ level: "ERROR" })); process.stdout.write("plain\\nunfinished")`;
  const environment = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
  const container = await fixture.runtime.start({ ...spec, startCommand: "node -e 0", environment }, (line, severity) =>
    lines.push([line, severity]),
  );

  await container.finished;
  expect(lines).toEqual([
    ['{"level":"ERROR"}', "error"],
    ["plain", undefined],
    ["unfinished", undefined],
  ]);
});

test("a container that drains is given its time, and is gone afterwards", async () => {
  const started = await program(`
    process.on("SIGTERM", () => setTimeout(() => { console.log("drained"); process.exit(0); }, 300));
    setInterval(() => {}, 1000);
    console.log("ready");
  `);
  await started.said(/ready/);
  await started.container.stop(30);

  await expect(started.container.finished).resolves.toEqual({ exitCode: 0 });
  expect(started.lines).toEqual(["ready", "drained"]);
});

test.each([0, 0.2])("one that does not end within %p s is killed", async (drainingSeconds) => {
  const started = await program(`
    process.on("SIGTERM", () => console.log("not yet"));
    setInterval(() => {}, 1000);
    console.log("ready");
  `);
  await started.said(/ready/);
  await started.container.stop(drainingSeconds);

  await expect(started.container.finished).resolves.toEqual({ exitCode: 137 });
  expect(["ready", "not yet"]).toEqual(expect.arrayContaining(started.lines));
});

test("one that is killed from outside is seen with its code", async () => {
  const started = await program(`console.log("pid", process.pid); setInterval(() => {}, 1000)`);
  await started.said(/^pid/);
  process.kill(Number(started.lines[0]?.split(" ")[1]), "SIGKILL");

  await expect(started.container.finished).resolves.toEqual({ exitCode: 137 });
});

test("one whose first process is killed ends as a whole", async () => {
  const started = await program(`console.log("pids", process.pid, process.ppid); setInterval(() => {}, 1000)`);
  await started.said(/^pids/);
  const [pid = 0, supervisor = 0] = started.lines[0]?.split(" ").slice(1).map(Number) ?? [];
  const id = { pid, startTime: (await startTimeOf(pid))! };
  process.kill(supervisor, "SIGKILL");

  await expect(started.container.finished).resolves.toEqual({ exitCode: 137 });
  while (await isAlive(id)) await delay(5);
});

describe("after a restart of the emulator", () => {
  test("a container that still runs is found, with what it has said meanwhile, and stopped", async () => {
    const started = await program(`
      process.on("SIGUSR2", () => console.log("meanwhile"));
      process.on("SIGTERM", () => process.exit(7));
      setInterval(() => {}, 1000);
      console.log("pid", process.pid);
    `);
    await started.said(/^pid/);
    await fixture.runtime.close();
    process.kill(Number(started.lines[0]?.split(" ")[1]), "SIGUSR2");
    const later: string[] = [];
    const found = await fixture.another().find(started.spec, (line) => later.push(line));
    while (later.length === 0) await delay(5);
    await found?.stop(30);

    await expect(found?.finished).resolves.toEqual({ exitCode: 7 });
    expect(later).toEqual(["meanwhile"]);
    expect(started.lines).toHaveLength(1);
  });

  test("one that has ended meanwhile is found with its exit code", async () => {
    const file = join(fixture.directory, "..", "go");
    const started = await program(
      `import { existsSync } from "node:fs";
       console.log("ready");
       setInterval(() => existsSync(process.env.FILE) && (console.log("last words"), process.exit(4)), 5);`,
      { FILE: file },
    );
    await started.said(/ready/);
    await fixture.runtime.close();
    await writeFile(file, "");
    const fate = join(fixture.directory, started.spec.deploymentId, "fate");
    while ((await readFile(fate, "utf8")).split("\n").length < 3) await delay(5);
    const later: string[] = [];
    const found = await fixture.another().find(started.spec, (line) => later.push(line));

    await expect(found?.finished).resolves.toEqual({ exitCode: 4 });
    expect(later).toEqual(["last words"]);
    await found?.stop(0);
  });

  test("one that is started again although it runs makes way for itself", async () => {
    const first = await program(SERVER, { BIND: "::" });
    await first.said(/^listening/);
    await fixture.runtime.close();
    const lines: string[] = [];
    const again = await fixture.another().start(first.spec, (line) => lines.push(line));
    while (lines.length === 0) await delay(5);

    await first.container.finished;
    expect(lines).toEqual(first.lines);
    expect(await again.probe("/health", 8080)).toBe(200);
  });

  test("a deployment that never ran is not found", async () => {
    expect(await fixture.runtime.find(fixture.spec(NODE), () => {})).toBeUndefined();
  });
});

test("a runtime that closes and stops leaves nothing behind", async () => {
  const started = await program(`console.log("ready"); setInterval(() => {}, 1000)`);
  await started.said(/ready/);
  await fixture.runtime.close({ stop: true });

  await expect(started.container.finished).resolves.toEqual({ exitCode: 143 });
  expect(await run("ps", ["-A", "-o", "args="], { cwd: "/" })).not.toContain(fixture.directory);
});
