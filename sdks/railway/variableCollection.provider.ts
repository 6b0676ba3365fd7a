import { randomUUID } from "node:crypto";
import { z } from "zod";
import { checkInputs, hasUnknown, PartialFailure, type Provider } from "../../providers/provider.ts";
import { sameValue } from "../../providers/sameValue.ts";
import { configure, railway, type Railway } from "./client/client.ts";
import { isRailwayError, unlessGone } from "./client/errors.ts";
import { servicePlace, type ServicePlace } from "./inputs.schema.ts";
import * as api from "./variableCollection.api.ts";

export interface VariableCollectionInputs extends ServicePlace {
  variables: Record<string, string>;
  exclusive?: boolean;
}

export interface VariableCollectionOutputs extends VariableCollectionInputs {
  version: string;
}

const schema = z.object({
  ...servicePlace,
  variables: z.record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: "must be a name of letters, digits and underscores" }),
    z.string({ error: "must be a text" }),
  ),
  exclusive: z.boolean({ error: "must be true or false" }).optional(),
});

const provider: Provider<VariableCollectionInputs, VariableCollectionOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news, { secrets: ["variables"] });
  },

  async diff(_id, olds, news) {
    const replaces = (["projectId", "environmentId", "serviceId"] as const).filter((name) => olds[name] !== news[name]);
    const changes =
      replaces.length > 0 ||
      hasUnknown(news.variables) ||
      (olds.exclusive ?? false) !== (news.exclusive ?? false) ||
      !sameValue(normal(olds.variables), normal(news.variables));
    return { changes, replaces };
  },

  async create(inputs) {
    const { exclusive = false, variables } = inputs;
    const id = `${inputs.serviceId}:${inputs.environmentId}`;
    await api.upsertVariables(railway(), inputs, variables, exclusive);
    return { id, outs: { ...inputs, version: randomUUID() } };
  },

  async read(id, props) {
    const client = railway();
    const found = await unlessGone(api.readVariables(client, props));
    if (found === undefined) return {};
    return { id, props: { ...props, variables: await observed(client, props, found) } };
  },

  async update(id, olds, news) {
    const client = railway();
    const { exclusive = false, variables } = news;
    const removed = Object.keys(olds.variables).filter((name) => !(name in variables));
    // What was not removed yet stays known, so that the next run removes it.
    const unfinished = { ...olds, variables: { ...olds.variables, ...variables }, version: randomUUID() };
    await api.upsertVariables(client, news, variables, exclusive);
    try {
      if (!exclusive) await removeVariables(client, news, removed);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      throw new PartialFailure(id, unfinished, [error.message]);
    }
    return { outs: { ...news, version: randomUUID() } };
  },

  async delete(_id, props) {
    await unlessGone(removeVariables(railway(), props, Object.keys(props.variables)));
  },
};

export default provider;

/** Railway keeps one kind of line ends. */
function normal(variables: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value.replaceAll("\r\n", "\n")]));
}

/** Our variables as they are. Those of others are looked at only when the collection is to be all there is. */
async function observed(
  client: Railway,
  { variables, exclusive, ...place }: VariableCollectionOutputs,
  found: api.Variables,
): Promise<Record<string, string>> {
  const missing = Object.keys(variables).filter((name) => !(name in found));
  // A sealed variable is there, although it is never given back.
  const stored = missing.length === 0 ? undefined : await api.storedNames(client, place);
  const ours = Object.entries(variables).flatMap(([name, value]) => {
    const live = found[name] ?? (stored?.get(name)?.isSealed ? value : undefined);
    return live === undefined
      ? []
      : [[name, live.replaceAll("\r\n", "\n") === value.replaceAll("\r\n", "\n") ? value : live]];
  });
  const others = exclusive
    ? Object.entries(found).filter(([name]) => !(name in variables) && !name.startsWith("RAILWAY_"))
    : [];
  return Object.fromEntries([...ours, ...others]) as Record<string, string>;
}

/**
 * Removes variables and leaves all others as they are, without a deployment where that can be done: by setting the
 * others as the whole collection. That would lose sealed ones, which cannot be read, so beside those each is deleted by
 * itself, and Railway deploys the service.
 */
async function removeVariables(client: Railway, place: ServicePlace, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const found = await api.readVariables(client, place);
  const stored = await api.storedNames(client, place);
  const present = names.filter((name) => name in found || stored.has(name));
  if (present.length === 0) return;
  if (![...stored.values()].some(({ isSealed }) => isSealed)) {
    // What Railway itself provides must not be set as if somebody had.
    const isSet = (name: string) => stored.has(name) || !name.startsWith("RAILWAY_");
    const kept = Object.entries(found).filter(([name]) => !names.includes(name) && isSet(name));
    await api.upsertVariables(client, place, Object.fromEntries(kept), true);
    return;
  }
  for (const name of present) {
    console.log(`deleting ${name} beside sealed variables, which makes Railway deploy the service`);
    await api.deleteVariable(client, place, name).catch((error: unknown) => {
      if (!isRailwayError(error, "notFound")) throw error;
    });
  }
}
