import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { connect } from "node:net";
import { request } from "undici";
import { eventually, refusal, worldIn, type EmulatorWorld } from "./emulatorWorld.ts";
import { startTestRailway, type TestRailway } from "./support.ts";

// How a service is reached: from outside at its domains and by its proxy, from other services by its private name.

let railway: TestRailway;
let world: EmulatorWorld;
const servers = new Set<Server>();

beforeEach(async () => {
  railway = await startTestRailway({
    delays: { visible: 1_000, backup: 0, second: 20, restart: 1, volumeDeletion: 50, probe: 2 },
  });
  world = await worldIn(railway);
});
afterEach(async () => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  servers.clear();
  await railway.stop();
});

/** Answers in the place of the container that was started last, with its name and the headers that it got. */
async function answerAs(name: string, port: number): Promise<void> {
  const server = createServer((incoming, outgoing) =>
    outgoing.end(JSON.stringify({ name, url: incoming.url, headers: incoming.headers })),
  );
  servers.add(server.listen(port, railway.runtime.last("Web").spec.address));
  await once(server, "listening");
}

interface Domain {
  readonly id: string;
  readonly domain: string;
  readonly suffix: string | null;
  readonly targetPort: number | null;
  readonly syncStatus: string;
}
const DOMAIN = "id domain suffix targetPort syncStatus";

async function addDomain(serviceId: string, targetPort?: number): Promise<Domain> {
  const { serviceDomainCreate } = await railway.call<{ serviceDomainCreate: Domain }>(
    `mutation ($input: ServiceDomainCreateInput!) { serviceDomainCreate(input: $input) { ${DOMAIN} } }`,
    { input: { serviceId, environmentId: world.environmentId, targetPort } },
  );
  return serviceDomainCreate;
}

interface Domains {
  readonly serviceDomains: readonly Domain[];
  readonly customDomains: readonly (Pick<Domain, "id" | "domain" | "targetPort"> & {
    status: { verified: boolean; dnsRecords: { requiredValue: string; currentValue: string }[] };
  })[];
}

async function domains(serviceId: string): Promise<Domains> {
  const data = await railway.call<{ domains: Domains }>(
    `query ($p: String!, $e: String!, $s: String!) {
      domains(projectId: $p, environmentId: $e, serviceId: $s) {
        serviceDomains { ${DOMAIN} }
        customDomains { id domain targetPort status { verified dnsRecords { requiredValue currentValue } } }
      }
    }`,
    { p: world.projectId, e: world.environmentId, s: serviceId },
  );
  return data.domains;
}

async function get(host: string, path = "/"): Promise<{ name: string; url: string; headers: IncomingHttpHeaders }> {
  const { statusCode, body } = await request(`http://${host}${path}`, { reset: true });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${statusCode} ${text}`);
  return JSON.parse(text) as { name: string; url: string; headers: IncomingHttpHeaders };
}

const proxiesOf = async (serviceId: string): Promise<{ id: string; proxyPort: number; syncStatus: string }[]> =>
  (
    await railway.call<{ tcpProxies: { id: string; proxyPort: number; syncStatus: string }[] }>(
      "query ($s: String!, $e: String!) { tcpProxies(serviceId: $s, environmentId: $e) { id proxyPort syncStatus } }",
      { s: serviceId, e: world.environmentId },
    )
  ).tcpProxies;

describe("a service's domain", () => {
  test("is being made, then not listed for a while, then active", async () => {
    const serviceId = await world.service();
    const made = await addDomain(serviceId, 8181);
    expect(made.syncStatus).toBe("CREATING");
    expect((await domains(serviceId)).serviceDomains).toEqual([]);
    const listed = await eventually(async () => (await domains(serviceId)).serviceDomains[0]);
    expect(listed).toEqual({ ...made, syncStatus: "ACTIVE" });
  });

  test("leads to the active deployment, and tells it who asked for what", async () => {
    const serviceId = await world.service("Web", {});
    const { domain } = await addDomain(serviceId, 8181);
    await expect(get(domain)).rejects.toThrow("502");
    await world.status(await world.deploy(serviceId), "SUCCESS");
    await expect(get(domain)).rejects.toThrow(
      '502 {"status":"error","code":502,"message":"Application failed to respond"}',
    );
    await answerAs("one", 8181);
    expect(await get(domain, "/path?query=1")).toMatchObject({
      url: "/path?query=1",
      headers: {
        host: domain,
        "x-forwarded-host": domain,
        "x-forwarded-proto": "http",
        "x-forwarded-for": "127.0.0.1",
      },
    });
  });

  test("leads to the port that the service names when it has none itself", async () => {
    const serviceId = await world.service("Web", {});
    await world.setVariables(serviceId, { PORT: "9191" });
    const { domain } = await addDomain(serviceId);
    await world.status(await world.deploy(serviceId), "SUCCESS");
    await answerAs("one", 9191);
    expect((await get(domain)).name).toBe("one");
  });

  test("goes from one deployment to the next without a gap, once that is healthy", async () => {
    const serviceId = await world.service("Web", { healthcheckPath: "/health" });
    const { domain } = await addDomain(serviceId, 8181);
    await world.status(await world.deploy(serviceId), "SUCCESS");
    await answerAs("one", 8181);
    railway.runtime.behaviour = () => ({ health: 503 });
    const next = await world.deploy(serviceId);
    await world.status(next, "DEPLOYING");
    await answerAs("two", 8181);
    expect((await get(domain)).name).toBe("one");
    railway.runtime.last("Web").health = 200;
    await world.status(next, "SUCCESS");
    expect((await get(domain)).name).toBe("two");
  });

  test("has a label that can be another, below its own suffix", async () => {
    const serviceId = await world.service();
    const { id, domain, suffix } = await addDomain(serviceId);
    const rename = (name: string) =>
      railway.call("mutation ($input: ServiceDomainUpdateInput!) { serviceDomainUpdate(input: $input) }", {
        input: { serviceDomainId: id, serviceId, environmentId: world.environmentId, domain: name, targetPort: 8181 },
      });
    expect(await refusal(rename("catalog.example.com"))).toBe("Domain is not available");
    await rename(domain);
    await rename(`catalog.${suffix}`);
    expect(railway.account.store.get("domains", id)).toMatchObject({ domain: `catalog.${suffix}`, targetPort: 8181 });
  });

  test("is no longer there when it is deleted, nor when its service is", async () => {
    const serviceId = await world.service();
    const [one, two] = [await addDomain(serviceId), await addDomain(serviceId)];
    await railway.call("mutation ($id: String!) { serviceDomainDelete(id: $id) }", { id: one.id });
    await expect(get(one.domain)).rejects.toThrow("ECONNREFUSED");
    await railway.call("mutation ($id: String!) { serviceDelete(id: $id) }", { id: serviceId });
    await expect(get(two.domain)).rejects.toThrow("ECONNREFUSED");
    expect(railway.liveObjects().domains).toEqual([]);
  });
});

test("a custom domain is verified once its records are there, and is taken once", async () => {
  const serviceId = await world.service();
  const create = () =>
    railway.call("mutation ($input: CustomDomainCreateInput!) { customDomainCreate(input: $input) { id } }", {
      input: { projectId: world.projectId, environmentId: world.environmentId, serviceId, domain: "data.example.com" },
    });
  await create();
  expect(await refusal(create())).toBe("Domain already exists");
  const made = await eventually(async () => (await domains(serviceId)).customDomains[0]);
  expect(made).toMatchObject({
    domain: "data.example.com",
    status: { verified: false, dnsRecords: [{ currentValue: "" }] },
  });
  railway.verifyDomain("data.example.com");
  const [record] = made.status.dnsRecords;
  expect((await domains(serviceId)).customDomains[0]?.status).toEqual({
    verified: true,
    dnsRecords: [{ requiredValue: record?.requiredValue, currentValue: record?.requiredValue }],
  });
});

test("a private name leads to the active deployment, at the port that it names last", async () => {
  const serviceId = await world.service("Web", {});
  const { address } = railway.account.instance(serviceId, world.environmentId);
  await world.setVariables(serviceId, { PORT: "8181" });
  await world.status(await world.deploy(serviceId), "SUCCESS");
  await answerAs("one", 8181);
  expect((await eventually(() => get(`${address}:8181`).catch(() => undefined))).name).toBe("one");
  await world.setVariables(serviceId, { PORT: "9191" });
  await world.status(await world.deploy(serviceId), "SUCCESS");
  await answerAs("two", 9191);
  expect((await eventually(() => get(`${address}:9191`).catch(() => undefined))).name).toBe("two");
  await expect(get(`${address}:8181`)).rejects.toThrow("ECONNREFUSED");
});

describe("a TCP proxy", () => {
  const isOpen = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
      socket
        .once("data", () => resolve(true))
        .once("close", () => resolve(false))
        .once("error", () => resolve(false));
      socket.once("data", () => socket.destroy());
    });

  test("of a patch leads to its port at once, and a patch takes it away", async () => {
    const serviceId = await world.service("Web", {});
    await world.status(await world.deploy(serviceId), "SUCCESS");
    await answerAs("one", 5432);
    const patch = (wanted: object | null) =>
      world.commit({ services: { [serviceId]: { networking: { tcpProxies: { "5432": wanted } } } } });
    await patch({});
    await patch({});
    const [proxy] = await eventually(async () =>
      (await proxiesOf(serviceId)).length > 0 ? proxiesOf(serviceId) : undefined,
    );
    expect(proxy?.syncStatus).toBe("ACTIVE");
    expect(await isOpen(proxy!.proxyPort)).toBe(true);
    expect(await world.variablesOf(serviceId)).toMatchObject({ RAILWAY_TCP_PROXY_PORT: String(proxy?.proxyPort) });
    // A patch of the network alone deploys nothing.
    expect(await world.deploymentsOf(serviceId)).toHaveLength(1);
    await patch(null);
    expect(await isOpen(proxy!.proxyPort)).toBe(false);
    expect(await proxiesOf(serviceId)).toEqual([]);
  });

  test("made the deprecated way leads nowhere until the service is deployed again", async () => {
    const serviceId = await world.service("Web", {});
    await world.status(await world.deploy(serviceId), "SUCCESS");
    await answerAs("one", 5432);
    await railway.call("mutation ($input: TCPProxyCreateInput!) { tcpProxyCreate(input: $input) { id } }", {
      input: { serviceId, environmentId: world.environmentId, applicationPort: 5432 },
    });
    const [proxy] = await eventually(async () =>
      (await proxiesOf(serviceId)).length > 0 ? proxiesOf(serviceId) : undefined,
    );
    expect(proxy?.syncStatus).toBe("CREATING");
    expect(await isOpen(proxy!.proxyPort)).toBe(false);
    await world.status(await world.deploy(serviceId), "SUCCESS");
    await answerAs("two", 5432);
    expect((await proxiesOf(serviceId))[0]?.syncStatus).toBe("ACTIVE");
    expect(await isOpen(proxy!.proxyPort)).toBe(true);
  });
});
