import { setTimeout as delay } from "node:timers/promises";
import { refusal, worldIn, type EmulatorWorld } from "./emulatorWorld.ts";
import { startTestRailway, type TestRailway } from "./support.ts";

// Volumes and what leads to services, as Railway has them.

let railway: TestRailway;
let world: EmulatorWorld;

beforeAll(async () => {
  railway = await startTestRailway({
    // Long enough for a busy machine to see what is not there yet.
    delays: { visible: 1_000, backup: 1_000, restart: 1, volumeDeletion: 300, probe: 5 },
  });
});
afterAll(() => railway.stop());
beforeEach(async () => {
  world = await worldIn(railway);
});

describe("volumes", () => {
  interface Listed {
    readonly volumeId: string;
    readonly state: string;
    readonly isPendingDeletion: boolean;
  }
  const listed = async (): Promise<Listed[]> => {
    const { volumeInstances } = await world.environment<{ volumeInstances: { edges: { node: Listed }[] } }>(
      "volumeInstances(first: 10) { edges { node { volumeId state isPendingDeletion } } }",
    );
    return volumeInstances.edges.map(({ node }) => node);
  };

  test("one shows up after a while, a service has one at most, and a name is taken once", async () => {
    const id = await world.service();
    const volumeId = await world.volume(id);
    expect(await listed()).toEqual([]);
    while ((await listed()).length === 0) await delay(5);
    expect(await listed()).toMatchObject([{ volumeId, state: "READY", isPendingDeletion: false }]);
    expect(await refusal(world.volume(id))).toBe("A service can only have one volume");
    const rename = (of: string) =>
      railway.call('mutation ($id: String!) { volumeUpdate(volumeId: $id, input: { name: "data" }) { id } }', {
        id: of,
      });
    await rename(volumeId);
    expect(await refusal(rename(await world.volume(await world.service("Other"))))).toBe("Volume name already exists");
  });

  test("an empty region is no region, and fails without saying why", async () => {
    expect(await refusal(world.volume(await world.service(), { region: "" }))).toBe("Problem processing request");
  });

  test("an update without a service takes the volume away from it", async () => {
    const serviceId = await world.service();
    const volumeId = await world.volume(serviceId);
    await railway.call(
      "mutation ($id: String!, $input: VolumeInstanceUpdateInput!) { volumeInstanceUpdate(volumeId: $id, input: $input) }",
      { id: volumeId, input: { mountPath: "/other" } },
    );
    expect(railway.account.volumeInstance(volumeId, undefined)).toMatchObject({ serviceId: null, mountPath: "/other" });
  });

  test("a deletion is pending for a while", async () => {
    const volumeId = await world.volume(await world.service());
    await railway.call("mutation ($id: String!) { volumeDelete(volumeId: $id) }", { id: volumeId });
    while ((await listed()).some(({ isPendingDeletion }) => !isPendingDeletion)) await delay(5);
    while ((await listed()).length > 0) await delay(5);
    expect(railway.liveObjects().volumes).not.toContain(volumeId);
  });

  test("a backup is a workflow, unknown at first and then complete", async () => {
    const volumeId = await world.volume(await world.service());
    const { id } = railway.account.volumeInstance(volumeId, undefined);
    const { volumeInstanceBackupCreate } = await railway.call<{ volumeInstanceBackupCreate: { workflowId: string } }>(
      'mutation ($id: String!) { volumeInstanceBackupCreate(volumeInstanceId: $id, name: "before") { workflowId } }',
      { id },
    );
    const { workflowId } = volumeInstanceBackupCreate;
    const status = async () =>
      (
        await railway.call<{ workflowStatus: { status: string } }>(
          "query ($id: String!) { workflowStatus(workflowId: $id) { status } }",
          { id: workflowId },
        )
      ).workflowStatus.status;
    expect(await status()).toBe("NotFound");
    while ((await status()) !== "Complete") await delay(5);
    expect(railway.account.volumeInstance(volumeId, undefined).backups).toMatchObject([{ name: "before" }]);
  });
});

describe("networking", () => {
  test("each service domain leads to the active deployment's port, and fails without one", async () => {
    const serviceId = await world.service();
    const { serviceDomainCreate } = await railway.call<{ serviceDomainCreate: { domain: string } }>(
      "mutation ($input: ServiceDomainCreateInput!) { serviceDomainCreate(input: $input) { id domain } }",
      { input: { environmentId: world.environmentId, serviceId, targetPort: 8181 } },
    );
    const answer = await fetch(`http://${serviceDomainCreate.domain}/`);
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ message: "Application failed to respond" });
  });

  test("a TCP proxy comes by a patch, shows up after a while and is one at most", async () => {
    const serviceId = await world.service();
    const commit = (port: string) =>
      world.commit({ services: { [serviceId]: { networking: { tcpProxies: { [port]: {} } } } } });
    await commit("5432");
    const proxies = async () =>
      (
        await railway.call<{ tcpProxies: { applicationPort: number }[] }>(
          "query ($s: String!, $e: String!) { tcpProxies(serviceId: $s, environmentId: $e) { applicationPort } }",
          { s: serviceId, e: world.environmentId },
        )
      ).tcpProxies;
    while ((await proxies()).length === 0) await delay(5);
    expect(await proxies()).toEqual([{ applicationPort: 5432 }]);
    expect(await refusal(commit("5433"))).toBe("A service can only have one TCP proxy");
  });

  test("what a person has staged is counted, and goes along with the next patch", async () => {
    const serviceId = await world.service();
    await railway.call(
      "mutation ($e: String!, $input: EnvironmentConfig!) { environmentStageChanges(environmentId: $e, input: $input) { id } }",
      { e: world.environmentId, input: { services: { [serviceId]: { deploy: { startCommand: "staged" } } } } },
    );
    const { unmergedChangesCount } = await world.environment<{ unmergedChangesCount: number }>("unmergedChangesCount");
    expect(unmergedChangesCount).toBe(1);
  });
});
