import { UserError } from "../clients/errors.ts";
import { HttpError, Unreachable, type HttpClient } from "../clients/http.ts";
import { Lakekeeper, withCatalog, type WireWarehouse } from "../clients/lakekeeper.ts";
import { BRIEFLY, readOrKeep } from "./catalog.ts";
import { checkFailure, checkInputs, configure, hasUnknown, type Provider } from "./provider.ts";
import { sameValue } from "./sameValue.ts";
import { converge, observed, storing, type WarehouseInputs, type WarehouseOutputs } from "./warehouse.converge.ts";
import * as wire from "./warehouse.profile.ts";
import { removeWarehouse } from "./warehouse.removal.ts";
import { warehouseSchema } from "./warehouse.schema.ts";

const provider: Provider<WarehouseInputs, WarehouseOutputs> = {
  configure,

  async check(olds, news) {
    const result = checkInputs(warehouseSchema, news, { secrets: ["connection", "storageCredential"] });
    if (result.failures.length === 0 && !news.allowReplace) {
      result.failures.push(...refusedChanges(olds.storageProfile, news.storageProfile).map(checkFailure));
    }
    return result;
  },

  async diff(_id, olds, news) {
    if (hasUnknown(news.storageProfile)) return { changes: true };
    const immutable = refusedChanges(olds.storageProfile, news.storageProfile);
    if (immutable.length > 0) {
      if (!news.allowReplace) throw new UserError(immutable.join("\n"));
      return { changes: true, replaces: ["storageProfile"], deleteBeforeReplace: true };
    }
    const unchanged =
      !hasUnknown(news) &&
      olds.name === news.name &&
      olds.status === "active" &&
      sameValue(wire.normalProfile(olds.storageProfile), wire.normalProfile(news.storageProfile)) &&
      olds.credentialHash === wire.credentialHash(news.storageCredential) &&
      sameValue(wire.deleteProfileToWire(olds.deleteProfile), wire.deleteProfileToWire(news.deleteProfile)) &&
      (news.protected === undefined || news.protected === olds.protected) &&
      sameValue(olds.connection, news.connection);
    return { changes: !unchanged };
  },

  async create(inputs) {
    return withCatalog(inputs.connection, async (http) => {
      const lakekeeper = new Lakekeeper(http);
      const existing = await byName(lakekeeper, inputs.name);
      if (existing !== undefined) return adopt(http, existing, inputs);
      try {
        const body = {
          "warehouse-name": inputs.name,
          "delete-profile": wire.deleteProfileToWire(inputs.deleteProfile),
          "storage-profile": wire.profileToWire(inputs.storageProfile),
          "storage-credential": wire.credentialToWire(inputs.storageCredential),
        };
        const made = await storing(inputs, () => lakekeeper.createWarehouse(body));
        const hash = wire.credentialHash(inputs.storageCredential);
        return { id: made["warehouse-id"], outs: await converge(http, made, inputs, hash) };
      } catch (error) {
        // Somebody else was faster, or the answer was lost: what counts is what is there now.
        const unclear = error instanceof Unreachable && error.sent;
        if (!unclear && !(error instanceof HttpError && error.type === "WarehouseAlreadyExists")) throw error;
        const now = await byName(lakekeeper, inputs.name);
        if (now === undefined) throw error;
        return adopt(http, now, inputs);
      }
    });
  },

  async read(id, props) {
    return readOrKeep(id, props, () =>
      withCatalog(
        props.connection,
        async (http) => {
          const lakekeeper = new Lakekeeper(http);
          const found = (await byId(lakekeeper, id)) ?? (await byName(lakekeeper, props.name));
          if (found === undefined) return {};
          const sameId = found["warehouse-id"] === id;
          // Another one of the same name in another place is somebody else's.
          if (!sameId && !isInPlace(found, props)) return {};
          const hash = sameId ? props.credentialHash : "";
          return { id: found["warehouse-id"], props: observed(props, found, hash) };
        },
        BRIEFLY,
      ),
    );
  },

  async update(id, olds, news) {
    return withCatalog(news.connection, async (http) => {
      const live = await byId(new Lakekeeper(http), id);
      if (live === undefined) {
        throw new UserError(
          `Warehouse "${olds.name}" (${id}) is no longer in Lakekeeper at ${news.connection.uri}, so it cannot be changed. ` +
            "Run `pulumi up --refresh`: it notices that and makes the warehouse anew.",
        );
      }
      return { outs: await converge(http, live, news, olds.credentialHash) };
    });
  },

  async delete(id, props) {
    await withCatalog(props.connection, (http) => removeWarehouse(http, id, props.name));
  },
};

export default provider;

function refusedChanges(before: wire.StorageProfile | undefined, after: wire.StorageProfile): string[] {
  if (before === undefined || hasUnknown(before) || hasUnknown(after)) return [];
  return wire
    .immutableDifferences(before, after)
    .map(
      ({ field, from, to }) =>
        `lakekeeper:${field} cannot change from "${from}" to "${to}", since the tables lie in the old place. ` +
        `Set lakekeeper:${field} back to "${from}". Once the tables have moved, lakekeeper:allowReplace: true has the ` +
        "warehouse deleted and made anew in the new place; no file is touched.",
    );
}

async function byId(lakekeeper: Lakekeeper, id: string): Promise<WireWarehouse | undefined> {
  // A 404 by id may be an old answer after a change of state; the list is not cached.
  return (
    (await lakekeeper.warehouse(id)) ??
    (await lakekeeper.warehouses()).find((warehouse) => warehouse["warehouse-id"] === id)
  );
}

async function byName(lakekeeper: Lakekeeper, name: string): Promise<WireWarehouse | undefined> {
  const wanted = name.toLowerCase();
  return (await lakekeeper.warehouses()).find((warehouse) => warehouse.name.toLowerCase() === wanted);
}

function isInPlace(live: WireWarehouse, inputs: WarehouseInputs): boolean {
  const profile = wire.profileFromWire(live["storage-profile"]);
  return profile !== undefined && wire.immutableDifferences(inputs.storageProfile, profile).length === 0;
}

async function adopt(
  http: HttpClient,
  existing: WireWarehouse,
  inputs: WarehouseInputs,
): Promise<{ id: string; outs: WarehouseOutputs }> {
  const profile = wire.profileFromWire(existing["storage-profile"]);
  if (profile === undefined || !isInPlace(existing, inputs)) {
    const place = profile === undefined ? `${existing["storage-profile"].type} storage` : wire.locationOf(profile);
    throw new UserError(
      `Lakekeeper already has a warehouse "${existing.name}" (${existing["warehouse-id"]}), on ${place}, ` +
        `not on ${wire.locationOf(wire.normalProfile(inputs.storageProfile))}. It was left alone: choose another name, or set the bucket and key prefix it has.`,
    );
  }
  console.log(`adopting the warehouse "${existing.name}" (${existing["warehouse-id"]}), ${existing.status}`);
  // Nobody can tell which credential it holds, so ours is stored.
  return { id: existing["warehouse-id"], outs: await converge(http, existing, inputs, "") };
}
