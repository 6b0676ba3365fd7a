import volume, { type VolumeInputs, type VolumeOutputs } from "../../../sdks/railway/volume.provider.ts";
import {
  NO_DELETION,
  OUTLIVED,
  placeWithService,
  stage,
  startProviders,
  stopProviders,
  times,
} from "./providerWorld.ts";
import { failureOf } from "./sdkWorld.ts";
import type { TestRailway } from "./support.ts";

let railway: TestRailway;
let inputs: VolumeInputs;

beforeEach(async () => {
  railway = await startProviders();
  inputs = {
    ...(await placeWithService(railway)),
    mountPath: "/data",
    name: "data",
    backupSchedule: ["WEEKLY", "DAILY"],
  };
});
afterEach(() => stopProviders(railway));

const fault = (operation: string, what: string) => railway.faults.add(`POST /graphql/v2/${operation}, ${what}`);
const refresh = async (id: string, outs: VolumeOutputs): Promise<VolumeOutputs | undefined> =>
  (await volume.read(id, outs)).props;
const live = (id: string) => railway.account.volumeInstance(id, undefined);

test("a volume is made, awaited, named and backed up, and is no difference then", async () => {
  const { id, outs } = await volume.create(inputs);
  expect(outs).toEqual({ ...inputs, volumeInstanceId: live(id).id, observedName: "data" });
  expect(live(id)).toMatchObject({ serviceId: inputs.serviceId, mountPath: "/data", schedules: ["DAILY", "WEEKLY"] });
  const read = (await refresh(id, outs))!;
  expect(await volume.diff(id, read, inputs)).toMatchObject({ changes: false });
});

test("7.3.3 one that the service has already is taken over and brought to the inputs", async () => {
  const { id } = await volume.create(inputs);
  const again = await volume.create({ ...inputs, mountPath: "/elsewhere" });
  expect(again.id).toBe(id);
  expect(live(id).mountPath).toBe("/elsewhere");
  expect(railway.liveObjects().volumes).toEqual(["data"]);
});

test("7.3.5 a volume that is moved keeps its service", async () => {
  const { id, outs } = await volume.create(inputs);
  await volume.update(id, outs, { ...inputs, mountPath: "/moved" });
  expect(live(id)).toMatchObject({ mountPath: "/moved", serviceId: inputs.serviceId });
});

test.each(OUTLIVED)("7.3.2 made in spite of a fault, it is there once: %s", async (what) => {
  fault("volumeCreate", what);
  const { id } = await volume.create(inputs);
  expect(railway.liveObjects().volumes).toEqual(["data"]);
  expect(live(id).serviceId).toBe(inputs.serviceId);
});

test("7.3.1 a failure after it was made keeps it, and the next run goes on", async () => {
  fault("volumeInstanceBackupScheduleUpdate", 'body {"data":null,"errors":[{"message":"Plan does not allow it"}]}');
  const failure = await failureOf(volume.create(inputs));
  expect(failure.id).toBe(live(failure.id!).volumeId);
  expect(failure.message).toContain("Plan does not allow it");
  railway.faults.clear();
  const kept = failure.properties as unknown as VolumeOutputs;
  expect(await volume.diff(failure.id!, kept, inputs)).toMatchObject({ changes: true });
  const { outs } = await volume.update(failure.id!, kept, inputs);
  expect(outs.observedName).toBe("data");
  expect(live(failure.id!).schedules).toEqual(["DAILY", "WEEKLY"]);
  expect(railway.liveObjects().volumes).toHaveLength(1);
});

describe("7.3.7", () => {
  test.each([
    [{ region: "us-west2" }, { region: "europe-west4-drams3a" }, /region cannot go from us-west2 to europe-west4/],
    [{ sizeMB: 9_000 }, { sizeMB: 8_000 }, /sizeMB cannot go from 9000 down to 8000.*Set it to 9000/],
    [{}, { environmentId: "another" }, /environmentId cannot go from .*would be empty/],
  ])("%j to %j is refused and never a replacement", async (before, after, reason) => {
    const olds = { ...inputs, ...before };
    const news = { ...olds, ...after };
    const state = { ...olds, volumeInstanceId: "i", observedName: "data" };
    await expect(volume.diff("v", state, news)).rejects.toThrow(reason);
  });

  test("a name that is taken, by one that is being deleted for instance, gets a number and is no difference", async () => {
    const first = await volume.create(inputs);
    const { projectId, environmentId } = inputs;
    const { serviceCreate } = await railway.call<{ serviceCreate: { id: string } }>(
      "mutation ($input: ServiceCreateInput!) { serviceCreate(input: $input) { id } }",
      { input: { projectId, environmentId, name: "second" } },
    );
    const second = { ...inputs, serviceId: serviceCreate.id };
    const { id, outs } = await volume.create(second);
    expect(outs.observedName).toBe("data-2");
    expect(await volume.diff(id, (await refresh(id, outs))!, second)).toMatchObject({ changes: false });
    expect(first.id).not.toBe(id);
  });

  test("one that waits for its deletion is gone, and deleting it again is no error", async () => {
    const { id, outs } = await volume.create(inputs);
    await volume.delete(id, outs);
    expect(await volume.read(id, outs)).toEqual({});
    await volume.delete(id, outs);
    expect(times(railway, "volumeDelete")).toBe(1);
  });

  test("volumes that are made too quickly are made a little later", async () => {
    fault("volumeCreate", 'first 2, body {"data":null,"errors":[{"message":"You are creating volumes too quickly"}]}');
    await volume.create(inputs);
    expect(railway.liveObjects().volumes).toEqual(["data"]);
  });
});

test("it grows in place", async () => {
  const { id, outs } = await volume.create(inputs);
  const larger = { ...inputs, sizeMB: 20_000 };
  expect(await volume.diff(id, outs, larger)).toMatchObject({ changes: true });
  const grown = await volume.update(id, outs, larger);
  expect(live(id).sizeMB).toBe(20_000);
  expect(await volume.diff(id, (await refresh(id, grown.outs))!, larger)).toMatchObject({ changes: false });
});

test("7.3.8 but not while a person has staged changes", async () => {
  const { id, outs } = await volume.create(inputs);
  await stage(railway, inputs);
  const failure = await failureOf(volume.update(id, outs, { ...inputs, sizeMB: 20_000 }));
  expect(failure.message).toMatch(/1 staged changes.*Deploy or discard them/);
  expect(live(id).sizeMB).toBeLessThan(20_000);
});

test.each(NO_DELETION)("7.3.10 a refresh that fails is no deletion: %s", async (what) => {
  const { id, outs } = await volume.create(inputs);
  railway.faults.add(`POST /graphql/v2/project*environment, ${what}`);
  await expect(volume.read(id, outs)).rejects.toThrow();
});

test("drift shows: a schedule that was changed, and a volume that was taken away from its service", async () => {
  const { id, outs } = await volume.create(inputs);
  live(id).schedules = ["MONTHLY"];
  live(id).serviceId = null;
  const read = (await refresh(id, outs))!;
  expect(read).toMatchObject({ backupSchedule: ["MONTHLY"], serviceId: "" });
  expect(await volume.diff(id, read, inputs)).toMatchObject({ changes: true });
  await volume.update(id, read, inputs);
  expect(live(id)).toMatchObject({ schedules: ["DAILY", "WEEKLY"], serviceId: inputs.serviceId });
});
