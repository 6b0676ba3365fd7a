import { clock } from "../../../clients/retry.ts";
import customDomain from "../../../sdks/railway/customDomain.provider.ts";
import verification from "../../../sdks/railway/customDomainVerification.provider.ts";
import { placeWithService, startProviders, stopProviders } from "./providerWorld.ts";
import type { TestRailway } from "./support.ts";

const DOMAIN = "catalog.example.com";

let railway: TestRailway;
let inputs: Parameters<typeof verification.create>[0];

beforeEach(async () => {
  railway = await startProviders();
  const place = await placeWithService(railway);
  const { id } = await customDomain.create({ ...place, domain: DOMAIN });
  inputs = { projectId: place.projectId, customDomainId: id, domain: DOMAIN };
});
afterEach(() => stopProviders(railway));

test("it is waited for until Railway has seen the records", async () => {
  const sleep = clock.sleep;
  let waits = 0;
  clock.sleep = async (milliseconds) => {
    waits += 1;
    if (waits === 3) railway.verifyDomain(DOMAIN);
    await sleep(milliseconds);
  };
  const { id, outs } = await verification.create(inputs);
  expect(waits).toBe(3);
  expect(await verification.diff(id, outs, inputs)).toEqual({ changes: false });
});

test("in vain, with the records that it has not seen", async () => {
  await expect(verification.create({ ...inputs, timeoutSeconds: 30 })).rejects.toThrow(
    /^Waited 30 s for Railway to verify catalog\.example\.com, in vain: it has not seen .*catalog\.example\.com -> \S+.* Look at the zone's records/,
  );
});

test("and not for a domain that somebody has removed meanwhile", async () => {
  await customDomain.delete(inputs.customDomainId, { domain: DOMAIN } as never);
  await expect(verification.create(inputs)).rejects.toThrow('Railway has no domain "catalog.example.com" any more');
});
