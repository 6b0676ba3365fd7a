import { worldIn, type EmulatorWorld } from "./emulatorWorld.ts";
import { startProviders, stopProviders } from "./providerWorld.ts";
import { failureOf } from "./sdkWorld.ts";
import type { TestRailway } from "./support.ts";
import domain, {
  type ServiceDomainInputs,
  type ServiceDomainOutputs,
} from "../../../sdks/railway/serviceDomain.provider.ts";

let railway: TestRailway;
let world: EmulatorWorld;
let inputs: ServiceDomainInputs;

beforeEach(async () => {
  railway = await startProviders();
  world = await worldIn(railway);
  const { projectId, environmentId } = world;
  inputs = { projectId, environmentId, serviceId: await world.service(), targetPort: 8181 };
});
afterEach(() => stopProviders(railway));

const fault = (operation: string, what: string) => railway.faults.add(`POST /graphql/v2/${operation}, ${what}`);

test("port and name change in place, and a port can be taken away; another service replaces", async () => {
  const { id, outs } = await domain.create(inputs);
  const changed = { ...inputs, targetPort: 9000, subdomain: "catalog" };
  expect(await domain.diff(id, outs, changed)).toEqual({ changes: true, replaces: [] });
  const updated = (await domain.update(id, outs, changed)).outs;
  expect(updated.domain).toMatch(/^catalog\.localhost:\d+$/);
  expect(await domain.read(id, updated)).toEqual({ id, props: updated });
  expect(await domain.diff(id, updated, changed)).toMatchObject({ changes: false });

  const { projectId, environmentId, serviceId } = inputs;
  const portless = (await domain.update(id, updated, { projectId, environmentId, serviceId })).outs;
  expect((await domain.read(id, portless)).props).not.toHaveProperty("targetPort");
  expect(await domain.diff(id, outs, { ...inputs, serviceId: "other" })).toEqual({
    changes: true,
    replaces: ["serviceId"],
  });
});

test("drift of the port is seen and mended", async () => {
  const { id, outs } = await domain.create(inputs);
  const drifted = { ...inputs, serviceDomainId: id, domain: outs.domain, targetPort: 1 } as Record<string, unknown>;
  delete drifted["projectId"];
  await railway.call("mutation ($input: ServiceDomainUpdateInput!) { serviceDomainUpdate(input: $input) }", {
    input: drifted,
  });
  const { props } = await domain.read(id, outs);
  expect(await domain.diff(id, props as ServiceDomainOutputs, inputs)).toMatchObject({ changes: true });
  expect((await domain.update(id, props as ServiceDomainOutputs, inputs)).outs).toEqual(outs);
});

test("7.3.1 when it cannot be named the domain is kept in state, and the next update goes on", async () => {
  fault("serviceDomainUpdate", 'first 1, body {"data":null,"errors":[{"message":"Domain is not available"}]}');
  const wanted = { ...inputs, subdomain: "catalog" };
  const failure = await failureOf(domain.create(wanted));
  const kept = failure.properties as unknown as ServiceDomainOutputs;
  expect(railway.liveObjects().domains).toEqual([kept.domain]);
  expect(await domain.diff(failure.id!, kept, wanted)).toMatchObject({ changes: true });
  expect((await domain.update(failure.id!, kept, wanted)).outs.domain).toMatch(/^catalog\./);
  expect(railway.liveObjects().domains).toHaveLength(1);
});

test("7.3.10 a deleted one is gone, as with its service; an update says so, deleting it again is success", async () => {
  const { id, outs } = await domain.create(inputs);
  await domain.delete(id, outs);
  expect(await domain.read(id, outs)).toEqual({});
  await expect(domain.update(id, outs, inputs)).rejects.toThrow(/is gone.*pulumi up --refresh/);
  await domain.delete(id, outs);
  await railway.call("mutation ($id: String!) { serviceDelete(id: $id) }", { id: inputs.serviceId });
  expect(await domain.read(id, outs)).toEqual({});
});

test("wrong inputs are refused in the preview", async () => {
  const { failures } = await domain.check({}, { ...inputs, targetPort: 70_000, subdomain: "Not a label" });
  expect(failures.map(({ reason }) => reason)).toEqual([
    "targetPort must be a port, 1 to 65535, not 70000",
    'subdomain must be a label of a-z, 0-9 and - (lakekeeper-prod), not "Not a label"',
  ]);
});
