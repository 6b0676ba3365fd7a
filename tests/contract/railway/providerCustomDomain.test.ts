import customDomain, {
  type CustomDomainInputs,
  type CustomDomainOutputs,
} from "../../../sdks/railway/customDomain.provider.ts";
import type { TestRailway } from "./support.ts";
import { NO_DELETION, OUTLIVED, placeWithService, startProviders, stopProviders, times } from "./providerWorld.ts";
import { failureOf } from "./sdkWorld.ts";

const DOMAIN = "catalog.example.com";
let railway: TestRailway;
let inputs: CustomDomainInputs;

beforeEach(async () => {
  railway = await startProviders();
  inputs = { ...(await placeWithService(railway)), domain: DOMAIN, targetPort: 8181 };
});
afterEach(() => stopProviders(railway));

const fault = (operation: string, what: string) => railway.faults.add(`POST /graphql/v2/${operation}, ${what}`);
const withoutPort = (): CustomDomainInputs => {
  const { projectId, environmentId, serviceId, domain } = inputs;
  return { projectId, environmentId, serviceId, domain };
};
const live = async () =>
  (
    await railway.call<{ domains: { customDomains: object[] } }>(
      `query ($p: String!, $e: String!, $s: String!) {
        domains(projectId: $p, environmentId: $e, serviceId: $s) { customDomains { id } }
      }`,
      { p: inputs.projectId, e: inputs.environmentId, s: inputs.serviceId },
    )
  ).domains.customDomains;

test("a domain is made, with the records that its zone must have", async () => {
  const { id, outs } = await customDomain.create(inputs);
  expect(outs).toEqual({
    ...inputs,
    dnsRecords: [
      { type: "CNAME", name: DOMAIN, value: expect.stringMatching(/^[0-9a-f]{8}\.up\.railway\.app$/) as string },
      { type: "TXT", name: `_railway-verify.${DOMAIN}`, value: outs.verificationToken },
    ],
    verificationHost: `_railway-verify.${DOMAIN}`,
    verificationToken: `railway-verify=${id.replaceAll("-", "")}`,
    verified: false,
  });
  expect(railway.liveObjects().domains).toEqual([DOMAIN]);
  expect(await customDomain.diff(id, outs, inputs)).toEqual({
    changes: false,
    replaces: [],
    deleteBeforeReplace: false,
  });
});

test("a refresh sees that it is verified, which is no difference", async () => {
  const { id, outs } = await customDomain.create(inputs);
  railway.verifyDomain(DOMAIN);
  const { props } = await customDomain.read(id, outs);
  expect(props).toEqual({ ...outs, verified: true });
  expect((await customDomain.diff(id, props!, inputs)).changes).toBe(false);
});

test("its port changes in place, and one that is not given is taken away", async () => {
  const { id, outs } = await customDomain.create(inputs);
  const other = { ...inputs, targetPort: 9000 };
  expect(await customDomain.diff(id, outs, other)).toMatchObject({ changes: true, replaces: [] });
  const changed = await customDomain.update(id, outs, other);
  expect(changed.outs.targetPort).toBe(9000);
  expect((await customDomain.update(id, changed.outs, withoutPort())).outs).not.toHaveProperty("targetPort");
  expect((await customDomain.read(id, outs)).props).not.toHaveProperty("targetPort");
});

test("another domain replaces it; the same one at another service must leave first", async () => {
  const { id, outs } = await customDomain.create(inputs);
  expect(await customDomain.diff(id, outs, { ...inputs, domain: "www.example.com" })).toEqual({
    changes: true,
    replaces: ["domain"],
    deleteBeforeReplace: false,
  });
  expect(await customDomain.diff(id, outs, { ...inputs, serviceId: "s2", environmentId: "e2" })).toEqual({
    changes: true,
    replaces: ["environmentId", "serviceId"],
    deleteBeforeReplace: true,
  });
});

test("a port that a person has changed is drift, and is set again", async () => {
  const { id, outs } = await customDomain.create(inputs);
  await railway.call(
    "mutation ($id: String!, $e: String!) { customDomainUpdate(id: $id, environmentId: $e, targetPort: 1) }",
    {
      id,
      e: inputs.environmentId,
    },
  );
  const { props } = await customDomain.read(id, outs);
  expect(props?.targetPort).toBe(1);
  expect((await customDomain.diff(id, props!, inputs)).changes).toBe(true);
  await customDomain.update(id, props!, inputs);
  expect((await customDomain.read(id, outs)).props?.targetPort).toBe(8181);
});

test("a deletion leaves nothing, and finding nothing is success", async () => {
  const { id, outs } = await customDomain.create(inputs);
  await customDomain.delete(id, outs);
  expect(railway.liveObjects().domains).toEqual([]);
  await customDomain.delete(id, outs);
});

test("one that is gone is made anew after a refresh; without one, an update says so", async () => {
  const { id, outs } = await customDomain.create(inputs);
  await customDomain.delete(id, outs);
  expect(await customDomain.read(id, outs)).toEqual({});
  await expect(customDomain.update(id, outs, { ...inputs, targetPort: 1 })).rejects.toThrow("pulumi up --refresh");
  await customDomain.create(inputs);
  expect(railway.liveObjects().domains).toEqual([DOMAIN]);
});

test("7.3.1 a domain whose port cannot be set keeps its id, and the next update continues", async () => {
  const { id } = await customDomain.create(withoutPort());
  fault("customDomainUpdate", 'first 1, body {"data":null,"errors":[{"message":"targetPort is not allowed"}]}');
  // A service that has the domain already is where a creation meets a port to set.
  while ((await live()).length === 0);
  const failure = await failureOf(customDomain.create(inputs));
  expect(failure).toMatchObject({ id, properties: { domain: DOMAIN, verified: false } });
  expect(failure.message).toContain("targetPort is not allowed");
  expect(failure.properties).not.toHaveProperty("targetPort");
  const { outs } = await customDomain.update(id, failure.properties as unknown as CustomDomainOutputs, inputs);
  expect(outs.targetPort).toBe(8181);
  expect(railway.liveObjects().domains).toEqual([DOMAIN]);
});

test.each(OUTLIVED)("7.3.2 created in spite of a fault, it is there once: %s", async (what) => {
  fault("customDomainCreate", what);
  const { id, outs } = await customDomain.create(inputs);
  expect(railway.liveObjects().domains).toEqual([DOMAIN]);
  expect((await customDomain.read(id, outs)).props).toEqual(outs);
});

test.each(OUTLIVED)("7.3.2 updated and deleted in spite of a fault: %s", async (what) => {
  const { id, outs } = await customDomain.create(inputs);
  fault("customDomainUpdate", what);
  await customDomain.update(id, outs, { ...inputs, targetPort: 9000 });
  expect((await customDomain.read(id, outs)).props?.targetPort).toBe(9000);
  fault("customDomainDelete", what);
  await customDomain.delete(id, outs);
  expect(railway.liveObjects().domains).toEqual([]);
});

test("7.3.3 what a killed run has made is taken over, also while it does not show up yet", async () => {
  const killed = await customDomain.create(inputs);
  const { id, outs } = await customDomain.create(inputs);
  expect({ id, outs }).toEqual(killed);
  expect(times(railway, "customDomainCreate")).toBe(1);
});

test("7.3.3 a domain of another service is refused and left alone", async () => {
  const theirs = await customDomain.create({ ...inputs, ...(await placeWithService(railway, "other")) });
  await expect(customDomain.create(inputs)).rejects.toThrow(
    /catalog\.example\.com.*Domain is already in use.*choose another/,
  );
  expect(railway.liveObjects().domains).toEqual([DOMAIN]);
  expect((await customDomain.read(theirs.id, theirs.outs)).id).toBe(theirs.id);
});

test.each(NO_DELETION)("7.3.10 a refresh takes nothing for deleted: %s", async (what) => {
  const { id, outs } = await customDomain.create(inputs);
  fault("customDomain", what);
  await expect(customDomain.read(id, outs)).rejects.toThrow(`domain "${DOMAIN}"`);
});

test("7.3.10 a deletion that is not authorized fails, and is not repeated", async () => {
  const { id, outs } = await customDomain.create(inputs);
  fault("customDomainDelete", NO_DELETION.at(-1)!);
  await expect(customDomain.delete(id, outs)).rejects.toThrow("Nothing was taken as deleted");
  expect(times(railway, "customDomainDelete")).toBe(1);
  expect(railway.liveObjects().domains).toEqual([DOMAIN]);
});

test("what is wrong with the inputs shows in the preview; what is not known yet is a change", async () => {
  const reasons = async (news: object) =>
    (await customDomain.check({}, { ...inputs, ...news })).failures.map(({ reason }) => reason);
  expect(await reasons({})).toEqual([]);
  expect(await reasons({ domain: "*.example.com" })).toEqual([]);
  expect(await reasons({ domain: "https://a.example.com", targetPort: 0 })).toEqual([
    'domain must be a domain in small letters, without a scheme (catalog.example.com), not "https://a.example.com"',
    "targetPort must be a port, 1 to 65535, not 0",
  ]);
  const unknown = { ...inputs, serviceId: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" };
  const { id, outs } = await customDomain.create(inputs);
  expect(await customDomain.diff(id, outs, unknown)).toEqual({ changes: true });
});
