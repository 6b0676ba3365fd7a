import serviceDomain, { type ServiceDomainInputs } from "../../../sdks/railway/serviceDomain.provider.ts";
import { NO_DELETION, OUTLIVED, placeWithService, startProviders, stopProviders, times } from "./providerWorld.ts";
import { failureOf } from "./sdkWorld.ts";
import type { TestRailway } from "./support.ts";

let railway: TestRailway;
let inputs: ServiceDomainInputs;

beforeEach(async () => {
  railway = await startProviders();
  inputs = { ...(await placeWithService(railway)), targetPort: 8181 };
});
afterEach(() => stopProviders(railway));

const fault = (operation: string, what: string) => railway.faults.add(`POST /graphql/v2/${operation}, ${what}`);
const ports = () => railway.account.domainsOf(inputs).map(({ targetPort }) => targetPort);

test("a domain is made and is no difference then", async () => {
  const { id, outs } = await serviceDomain.create(inputs);
  expect(outs).toEqual({ ...inputs, domain: railway.liveObjects().domains[0] });
  const { props } = await serviceDomain.read(id, outs);
  expect(props).toEqual(outs);
  expect(await serviceDomain.diff(id, outs, inputs)).toEqual({ changes: false, replaces: [] });
});

test("7.3.3 one that the service has already is taken over, with the port that is asked for", async () => {
  await serviceDomain.create({ ...inputs, targetPort: 80 });
  await serviceDomain.create(inputs);
  expect(ports()).toEqual([8181]);
  expect(times(railway, "serviceDomainCreate")).toBe(1);
});

test.each(OUTLIVED)("7.3.2 made in spite of a fault, it is there once: %s", async (what) => {
  fault("serviceDomainCreate", what);
  const { id, outs } = await serviceDomain.create(inputs);
  expect(railway.liveObjects().domains).toHaveLength(1);
  expect((await serviceDomain.read(id, outs)).id).toBe(id);
});

test("7.3.1 a failure after it was made keeps it, and the next run goes on", async () => {
  await serviceDomain.create({ ...inputs, targetPort: 80 });
  fault("serviceDomainUpdate", 'first 1, body {"data":null,"errors":[{"message":"Domain is not available"}]}');
  const failure = await failureOf(serviceDomain.create(inputs));
  expect(failure.properties).toMatchObject({ targetPort: 80 });
  const { outs } = await serviceDomain.update(failure.id!, failure.properties as never, inputs);
  expect(outs.targetPort).toBe(8181);
  expect(ports()).toEqual([8181]);
});

test("its port changes in place, another service replaces it", async () => {
  const { id, outs } = await serviceDomain.create(inputs);
  const other = { ...inputs, targetPort: 80 };
  expect(await serviceDomain.diff(id, outs, other)).toEqual({ changes: true, replaces: [] });
  expect((await serviceDomain.update(id, outs, other)).outs.domain).toBe(outs.domain);
  expect(ports()).toEqual([80]);
  expect(await serviceDomain.diff(id, outs, { ...inputs, serviceId: "other" })).toEqual({
    changes: true,
    replaces: ["serviceId"],
  });
});

test("one that somebody deletes is seen by a refresh", async () => {
  const { id, outs } = await serviceDomain.create(inputs);
  await serviceDomain.delete(id, outs);
  expect(railway.liveObjects().domains).toEqual([]);
  expect(await serviceDomain.read(id, outs)).toEqual({});
  await serviceDomain.delete(id, outs);
});

test.each(NO_DELETION)("7.3.10 a refresh that fails is no deletion: %s", async (what) => {
  const { id, outs } = await serviceDomain.create(inputs);
  fault("*", what);
  await expect(serviceDomain.read(id, outs)).rejects.toThrow();
});

test.each([
  [{ targetPort: 0 }, "targetPort must be a port"],
  [{ subdomain: "Not_A_Label" }, "subdomain must be a label"],
])("%j is refused in the preview", async (changed, reason) => {
  const { failures } = await serviceDomain.check({}, { ...inputs, ...changed });
  expect(failures[0]?.reason).toContain(reason);
});
