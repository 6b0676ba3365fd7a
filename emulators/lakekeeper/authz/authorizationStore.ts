import type { OpenFgaSettings } from "../settings.ts";
import { authorizationModel, modelVersion } from "./model.ts";
import { OpenFgaClient, OpenFgaStore } from "./openFgaClient.ts";

interface Stored {
  readonly id: string;
  readonly name: string;
}

const versionObject = `model_version:collaboration-${modelVersion}`;
const modelPrefix = "auth_model_id:";

/** What `migrate` does beside the database: makes the store and writes the model, unless they are there. */
export async function migrateAuthorization(settings: OpenFgaSettings): Promise<void> {
  const client = new OpenFgaClient(settings);
  const store =
    (await findStore(client, settings.storeName)) ??
    (await client.send<Stored>("POST", "/stores", { name: settings.storeName }));
  if ((await findModel(client, store.id)) !== undefined) return;
  const made = await client.send<{ authorization_model_id: string }>(
    "POST",
    `/stores/${store.id}/authorization-models`,
    authorizationModel,
  );
  const id = made.authorization_model_id;
  const tuple = { user: `${modelPrefix}${id}`, relation: "openfga_id", object: versionObject };
  await new OpenFgaStore(client, store.id, id).write({ writes: [tuple] });
}

/** What `serve` needs. Throws unless `migrate` has been there. */
export async function openAuthorizationStore(settings: OpenFgaSettings): Promise<OpenFgaStore> {
  const client = new OpenFgaClient(settings);
  const store = await findStore(client, settings.storeName);
  if (store === undefined)
    throw new Error(`OpenFGA Store not found: ${settings.storeName}. Make sure to run migration first!`);
  const model = await findModel(client, store.id);
  if (model === undefined)
    throw new Error(
      `Active authorization model with version ${modelVersion} not found in OpenFGA. Make sure to run migration first!`,
    );
  return new OpenFgaStore(client, store.id, model);
}

async function findStore(client: OpenFgaClient, name: string): Promise<Stored | undefined> {
  const { stores } = await client.send<{ stores: Stored[] }>("GET", `/stores?name=${encodeURIComponent(name)}`);
  return stores.find((store) => store.name === name);
}

/** The id of the model that `migrate` wrote; there may be others in the store. */
async function findModel(client: OpenFgaClient, storeId: string): Promise<string | undefined> {
  const [tuple] = await new OpenFgaStore(client, storeId, "").read({ object: versionObject, relation: "openfga_id" });
  return tuple?.user.slice(modelPrefix.length);
}
