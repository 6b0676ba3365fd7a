import { worldIn, type EmulatorWorld } from "./emulatorWorld.ts";
import { startProviders, stopProviders, times } from "./providerWorld.ts";
import { failureOf } from "./sdkWorld.ts";
import type { TestRailway } from "./support.ts";
import volume, { type VolumeInputs, type VolumeOutputs } from "../../../sdks/railway/volume.provider.ts";

const PATH = "/var/lib/postgresql/data";

let railway: TestRailway;
let world: EmulatorWorld;
let inputs: VolumeInputs;

beforeEach(async () => {
  railway = await startProviders();
  world = await worldIn(railway);
  const { projectId, environmentId } = world;
  inputs = { projectId, environmentId, serviceId: await world.service("Postgres"), mountPath: PATH, name: "postgres" };
});
afterEach(() => stopProviders(railway));

interface Live {
  readonly id: string;
  readonly volumeId: string;
  readonly serviceId: string | null;
  readonly mountPath: string;
  readonly sizeMB: number;
  readonly volume: { readonly name: string };
}

async function live(): Promise<Live[]> {
  const fields =
    "volumeInstances(first: 9) { edges { node { id volumeId serviceId mountPath sizeMB volume { name } } } }";
  const found = await world.environment<{ volumeInstances: { edges: { node: Live }[] } }>(fields);
  return found.volumeInstances.edges.map(({ node }) => node);
}

test("7.3.7 it is never replaced: another place, region or a smaller size is refused with the reason", async () => {
  const { id, outs } = await volume.create({ ...inputs, region: "us-west2", sizeMB: 8_000 });
  const refused = async (change: Partial<VolumeInputs>) => {
    await expect(volume.diff(id, outs, { ...outs, ...change })).rejects.toThrow();
    return (await failureOf(volume.update(id, outs, { ...outs, ...change }))).message;
  };
  expect(await refused({ region: "europe-west4-drams3a" })).toMatch(
    /region cannot go from us-west2 to europe-west4-drams3a/,
  );
  expect(await refused({ sizeMB: 5_000 })).toMatch(/sizeMB cannot go from 8000 down to 5000.*only grows/);
  expect(await refused({ environmentId: "other" })).toMatch(
    /environmentId cannot go from .* another one would be empty/,
  );
  expect(times(railway, "volumeDelete")).toBe(0);
});

test("7.3.7 one that is bigger or elsewhere than asked for is refused at once, and taken over by its true values", async () => {
  await world.volume(inputs.serviceId, { region: "us-west2" });
  while ((await live()).length === 0);
  const failure = await failureOf(volume.create({ ...inputs, region: "europe-west4-drams3a", sizeMB: 1_000 }));
  expect(failure.message).toMatch(/region cannot go from us-west2 .*\n.*sizeMB cannot go from 5000 down to 1000/);
  const kept = failure.properties as unknown as VolumeOutputs;
  const mended = { ...inputs, region: "us-west2", sizeMB: 5_000 };
  expect(await volume.diff(failure.id!, kept, mended)).toMatchObject({ changes: true });
  expect((await volume.update(failure.id!, kept, mended)).outs).toMatchObject(mended);
});

test("7.3.7 one that waits for its deletion is gone, and cannot be changed; deleting it again is success", async () => {
  const { id, outs } = await volume.create(inputs);
  await volume.delete(id, outs);
  expect(await volume.read(id, outs)).toEqual({});
  await expect(volume.update(id, outs, inputs)).rejects.toThrow(/waits for its deletion.*restores it for two days/);
  await volume.delete(id, outs);
});

test("drift is seen: detached, mounted elsewhere, renamed, without backups; an update mends it in place", async () => {
  const wanted: VolumeInputs = { ...inputs, backupSchedule: ["DAILY"] };
  const { id, outs } = await volume.create(wanted);
  await railway.call(
    `mutation ($v: String!, $e: String!, $i: String!) {
      volumeInstanceUpdate(volumeId: $v, environmentId: $e, input: { mountPath: "/x" })
      volumeUpdate(volumeId: $v, input: { name: "x" }) { id }
      volumeInstanceBackupScheduleUpdate(volumeInstanceId: $i, kinds: [])
    }`,
    { v: id, e: inputs.environmentId, i: outs.volumeInstanceId },
  );
  const props = (await volume.read(id, { ...outs })).props!;
  expect(props).toMatchObject({ serviceId: "", mountPath: "/x", observedName: "x", backupSchedule: [] });
  for (const drifted of [
    { serviceId: "" },
    { mountPath: "/x" },
    { observedName: "x" },
    { backupSchedule: [] },
  ] satisfies Partial<VolumeOutputs>[]) {
    expect(await volume.diff(id, { ...outs, ...drifted }, wanted)).toMatchObject({ changes: true, replaces: [] });
  }
  expect((await volume.update(id, props, wanted)).outs).toEqual(outs);
  expect((await volume.read(id, outs)).props).toEqual(outs);
  expect(await live()).toHaveLength(1);
});

test("wrong inputs are refused in the preview", async () => {
  const { failures } = await volume.check(
    {},
    { ...inputs, mountPath: "data", sizeMB: 0, backupSchedule: ["HOURLY" as "DAILY"], region: "" },
  );
  expect(failures.map(({ reason }) => reason)).toEqual([
    'mountPath must be an absolute path, not "data"',
    "region must not be empty",
    "sizeMB must be 1 or more, not 0",
    'backupSchedule.0 must be DAILY, WEEKLY or MONTHLY, not "HOURLY"',
  ]);
});
