import type { HttpClient } from "../clients/http.ts";
import { getConfig, IcebergCatalog } from "../clients/iceberg.ts";
import { isNoSuchWarehouse, Lakekeeper, type WireWarehouse } from "../clients/lakekeeper.ts";
import { clock, retry, waitFor } from "../clients/retry.ts";
import type { Connection } from "../clients/token.ts";
import { PartialFailure } from "./provider.ts";
import { sameValue } from "./sameValue.ts";
import * as wire from "./warehouse.profile.ts";
import { explainStorage, isPerhapsNotThereYet } from "./warehouse.storage.ts";

export interface WarehouseInputs {
  connection: Connection;
  name: string;
  storageProfile: wire.StorageProfile;
  storageCredential: wire.StorageCredential;
  deleteProfile?: wire.DeleteProfile;
  allowReplace?: boolean;
  protected?: boolean;
}

export interface WarehouseOutputs extends WarehouseInputs {
  warehouseId: string;
  status: "active" | "inactive";
  /** Of the credential stored last; empty when the one that is stored is not ours. */
  credentialHash: string;
}

/** Brings a warehouse to its inputs, step by step. A failure keeps in state what the steps before it have reached. */
export async function converge(
  http: HttpClient,
  before: WireWarehouse,
  inputs: WarehouseInputs,
  storedHash: string,
): Promise<WarehouseOutputs> {
  const lakekeeper = new Lakekeeper(http);
  const id = before["warehouse-id"];
  const profile = wire.profileToWire(inputs.storageProfile);
  const credential = wire.credentialToWire(inputs.storageCredential);
  const hash = wire.credentialHash(inputs.storageCredential);
  const live = structuredClone(before);
  let hashNow =
    before["storage-credential-type"]?.["credential-type"] === credential["credential-type"] ? storedHash : "";

  try {
    if (live.status !== "active") {
      await lakekeeper.activateWarehouse(id);
      live.status = "active";
      await untilActive(http, id, live.name);
    }
    if (live.name !== inputs.name) {
      await patiently(live.name, () => lakekeeper.renameWarehouse(id, inputs.name));
      live.name = inputs.name;
    }
    if (!sameValue(wire.profileFromWire(live["storage-profile"]), wire.normalProfile(inputs.storageProfile))) {
      await patiently(live.name, () => storing(inputs, () => lakekeeper.updateStorage(id, profile, credential)));
      live["storage-profile"] = profile as WireWarehouse["storage-profile"];
      hashNow = hash;
    } else if (hashNow !== hash) {
      await patiently(live.name, () => storing(inputs, () => lakekeeper.updateStorageCredential(id, credential)));
      hashNow = hash;
    }
    const deleteProfile = wire.deleteProfileToWire(inputs.deleteProfile);
    if (!sameValue(live["delete-profile"], deleteProfile)) {
      await patiently(live.name, () => lakekeeper.updateDeleteProfile(id, deleteProfile));
      live["delete-profile"] = deleteProfile;
    }
    const { protected: wanted } = inputs;
    if (wanted !== undefined && live.protected !== wanted) {
      await patiently(live.name, () => lakekeeper.setProtection(id, wanted));
      live.protected = wanted;
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new PartialFailure(id, observed(inputs, live, hashNow), [error.message]);
  }
  return observed(inputs, live, hashNow);
}

/** Outputs that say how the warehouse is, in the words of the inputs wherever these mean the same. */
export function observed(inputs: WarehouseInputs, live: WireWarehouse, hash: string): WarehouseOutputs {
  const wanted = wire.normalProfile(inputs.storageProfile);
  const actual = wire.profileFromWire(live["storage-profile"]) ?? wanted;
  const credentialIsOurs = live["storage-credential-type"]?.["credential-type"] === inputs.storageCredential.type;
  return {
    ...inputs,
    name: live.name,
    storageProfile: sameValue(actual, wanted) ? inputs.storageProfile : actual,
    ...(sameValue(live["delete-profile"], wire.deleteProfileToWire(inputs.deleteProfile))
      ? {}
      : { deleteProfile: wire.deleteProfileFromWire(live["delete-profile"]) }),
    ...(inputs.protected === undefined ? {} : { protected: live.protected }),
    warehouseId: live["warehouse-id"],
    status: live.status,
    credentialHash: credentialIsOurs ? hash : "",
  };
}

const CACHE_PATIENCE = {
  deadlineSeconds: 150,
  remedy: "Look at Lakekeeper's log; running the command again continues from here.",
};

/** Lakekeeper keeps a warehouse's state for up to a minute, so an activated one is not there at once. */
async function untilActive(http: HttpClient, id: string, name: string): Promise<void> {
  const lakekeeper = new Lakekeeper(http);
  await waitFor(
    async () => {
      if ((await lakekeeper.warehouse(id))?.status !== "active")
        return { waiting: "the management API has its old state" };
      try {
        await getConfig(http, name);
        await new IcebergCatalog(http, id).namespaces();
        return { value: true };
      } catch (error) {
        if (!isNoSuchWarehouse(error)) throw error;
        return { waiting: "the catalog has its old state" };
      }
    },
    { what: `warehouse "${name}" to be active everywhere in Lakekeeper`, ...CACHE_PATIENCE },
  );
}

/** Makes a change to a warehouse that is known to be there, although a cached state may deny it for a while. */
async function patiently(name: string, change: () => Promise<unknown>): Promise<void> {
  await waitFor(
    async () => {
      try {
        await change();
        return { value: true };
      } catch (error) {
        if (!isNoSuchWarehouse(error)) throw error;
        return { waiting: "it still answers from a state in which there was none" };
      }
    },
    { what: `Lakekeeper to see warehouse "${name}"`, ...CACHE_PATIENCE },
  );
}

const STORAGE_DELAYS_SECONDS = [2, 4, 8, 16];

/** A call in which Lakekeeper tries the storage: a bucket or token made moments ago may take a while to work on R2. */
export async function storing<T>(inputs: WarehouseInputs, call: () => Promise<T>): Promise<T> {
  const start = clock.now();
  try {
    return await retry(call, (error, attempt) => {
      const delay = STORAGE_DELAYS_SECONDS[attempt - 1];
      const tooLong = clock.now() - start > 40_000;
      if (delay === undefined || tooLong || !isPerhapsNotThereYet(error)) return undefined;
      console.log(`the storage does not work yet (${error.type ?? error.status}); trying again in ${delay} s`);
      return delay * 1_000;
    });
  } catch (error) {
    throw explainStorage(error, inputs.storageProfile, inputs.storageCredential);
  }
}
