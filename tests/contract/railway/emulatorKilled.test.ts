import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { request } from "undici";
import { removeVolume, stopAll } from "../../../emulators/railway/runtime/index.ts";
import { makeScratch, type Scratch } from "../../support/scratch.ts";
import { eventually } from "./emulatorWorld.ts";
import { TOKEN, WORKSPACE, type Answer } from "./support.ts";

// The emulator as a process that is killed: what it has answered is kept, and what runs is found again.

let scratch: Scratch;
let directory: string;
let emulator: ChildProcess | undefined;
let port = 0;

beforeEach(async () => {
  scratch = await makeScratch();
  directory = join(scratch.state, "railway");
  port = 0;
});

afterEach(async () => {
  await kill();
  await stopAll(join(directory, "containers"));
  await removeVolume(join(directory, "volumes"));
  await scratch.remove();
});

async function start(): Promise<void> {
  const child = spawn("node", ["--disable-warning=ExperimentalWarning", "emulators/railway/main.ts", "serve"], {
    env: {
      PATH: process.env["PATH"],
      RAILWAY_EMULATOR_DIR: directory,
      RAILWAY_EMULATOR_PORT: String(port),
      RAILWAY_EMULATOR_TOKEN: TOKEN,
      RAILWAY_EMULATOR_WORKSPACE_ID: WORKSPACE,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  emulator = child;
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  ({ port } = JSON.parse(line.toString()) as { port: number });
}

async function kill(): Promise<void> {
  if (emulator === undefined || emulator.exitCode !== null || emulator.signalCode !== null) return;
  emulator.kill("SIGKILL");
  await once(emulator, "exit");
}

async function call<Data>(query: string, variables: object = {}): Promise<Data> {
  const answer = await request(`http://127.0.0.1:${port}/graphql/v2`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ query, variables }),
  });
  const body = (await answer.body.json()) as Answer;
  if (body.errors !== undefined) throw new Error(body.errors[0]?.message);
  return body.data as Data;
}

interface Place {
  readonly projectId: string;
  readonly environmentId: string;
}

async function project(): Promise<Place> {
  const { projectCreate } = await call<{ projectCreate: { id: string; primaryEnvironmentId: string } }>(
    "mutation ($input: ProjectCreateInput!) { projectCreate(input: $input) { id primaryEnvironmentId } }",
    { input: { name: "killed", workspaceId: WORKSPACE } },
  );
  return { projectId: projectCreate.id, environmentId: projectCreate.primaryEnvironmentId };
}

async function service(place: Place, name: string): Promise<string> {
  const { serviceCreate } = await call<{ serviceCreate: { id: string } }>(
    "mutation ($input: ServiceCreateInput!) { serviceCreate(input: $input) { id } }",
    { input: { ...place, name } },
  );
  return serviceCreate.id;
}

/** Says its pid to whoever asks. */
const PROGRAM = `
import { createServer } from "node:http";
createServer((request, response) => {
  console.log("asked for", request.url);
  response.end(String(process.pid));
}).listen(Number(process.env.PORT), process.env.BIND);
`;

async function deployed(place: Place): Promise<{ id: string; domain: string }> {
  const serviceId = await service(place, "Web");
  const at = { s: serviceId, e: place.environmentId };
  await call(
    `mutation ($s: String!, $e: String!, $input: ServiceInstanceUpdateInput!) {
      serviceInstanceUpdate(serviceId: $s, environmentId: $e, input: $input)
    }`,
    { ...at, input: { source: { image: "node:24" }, startCommand: "node -e 0" } },
  );
  const source = `data:text/javascript;base64,${Buffer.from(PROGRAM).toString("base64")}`;
  await call("mutation ($input: VariableCollectionUpsertInput!) { variableCollectionUpsert(input: $input) }", {
    input: {
      ...place,
      serviceId,
      variables: { NODE_OPTIONS: `--import=${source}`, BIND: "::" },
      skipDeploys: true,
    },
  });
  const { serviceDomainCreate } = await call<{ serviceDomainCreate: { domain: string } }>(
    "mutation ($input: ServiceDomainCreateInput!) { serviceDomainCreate(input: $input) { domain } }",
    { input: { serviceId, environmentId: place.environmentId } },
  );
  const { serviceInstanceDeployV2: id } = await call<{ serviceInstanceDeployV2: string }>(
    "mutation ($s: String!, $e: String!) { serviceInstanceDeployV2(serviceId: $s, environmentId: $e) }",
    at,
  );
  return { id, domain: serviceDomainCreate.domain };
}

/** What the service answers at its domain, once it does. */
const answerOf = (domain: string, path: string): Promise<string> =>
  eventually(async () => {
    const answer = await request(`http://${domain}${path}`);
    const text = await answer.body.text();
    return answer.statusCode === 200 ? text : undefined;
  });

async function storyOf(id: string): Promise<{ status: string; log: string[] }> {
  const { deployment, deploymentLogs } = await call<{
    deployment: { status: string };
    deploymentLogs: { message: string }[];
  }>("query ($id: String!) { deployment(id: $id) { status } deploymentLogs(deploymentId: $id) { message } }", { id });
  return { status: deployment.status, log: deploymentLogs.map(({ message }) => message) };
}

test("what it has answered is kept, whenever it is killed", async () => {
  await start();
  const place = await project();
  const made: string[] = [];
  for (let round = 1; round <= 3; round++) {
    // Killed while it makes services, one after the other, as fast as it can.
    const dying = emulator!;
    const before = made.length;
    for (;;) {
      // Some are made in any case, however slow the machine is.
      if (made.length === before + 2) setTimeout(() => dying.kill("SIGKILL"), round * 20);
      const name = `service-${made.length}-${round}`;
      try {
        await service(place, name);
      } catch {
        break;
      }
      made.push(name);
    }
    await kill();
    await start();
    const { environment } = await call<{ environment: { config: { services: object } } }>(
      "query ($id: String!) { environment(id: $id) { config } }",
      { id: place.environmentId },
    );
    const { services } = (await (await request(`http://127.0.0.1:${port}/-/objects`)).body.json()) as {
      services: string[];
    };
    expect(services).toEqual(expect.arrayContaining(made));
    // Nor is one there in part: each has its instance.
    expect(Object.keys(environment.config.services)).toHaveLength(services.length);
  }
  expect(made.length).toBeGreaterThan(3);
});

test("what runs goes on running, is found again at the same domain, and no line of its log is lost", async () => {
  await start();
  const place = await project();
  const { id, domain } = await deployed(place);
  const pid = await answerOf(domain, "/before");
  await eventually(async () => (await storyOf(id)).log.includes("asked for /before") || undefined);

  await kill();
  process.kill(Number(pid), 0);
  await start();

  expect(await answerOf(domain, "/after")).toBe(pid);
  const after = await eventually(async () => {
    const story = await storyOf(id);
    return story.log.includes("asked for /after") ? story : undefined;
  });
  expect(after.status).toBe("SUCCESS");
  expect(after.log.filter((line) => line.startsWith("asked"))).toEqual(["asked for /before", "asked for /after"]);

  await call("mutation ($id: String!) { projectDelete(id: $id) }", { id: place.projectId });
  expect(await stopAll(join(directory, "containers"))).toBe(0);
});

test("one that is killed while a deployment starts goes on with it", async () => {
  await start();
  const place = await project();
  const { id, domain } = await deployed(place);
  await kill();
  await start();
  expect(await answerOf(domain, "/")).toMatch(/^\d+$/);
  expect((await storyOf(id)).status).toBe("SUCCESS");
});
