import { InitializationError, reveal, unknown, type Log, type Plugin, type Properties } from "../protocol.ts";
import { failuresOf, withDefaults } from "./check.ts";
import { changesOf, diffOf } from "./diff.ts";
import { checkedProvider, providerDiff, serverSettings, type Environment } from "./provider.ts";
import type { Plan, Resource } from "./resource.ts";
import { database } from "./resources/database.ts";
import { defaultPrivileges } from "./resources/defaultPrivileges.ts";
import { extension } from "./resources/extension.ts";
import { grant } from "./resources/grant.ts";
import { grantRole } from "./resources/grantRole.ts";
import { role } from "./resources/role.ts";
import { schema } from "./resources/schema.ts";
import {
  decided,
  importedInputs,
  isCollection,
  isEmpty,
  markSecrets,
  planOf,
  refreshedInputs,
  stored,
} from "./schema.ts";
import { Server } from "./server.ts";

const resources: Record<string, Resource> = {
  "postgresql:index/database:Database": database,
  "postgresql:index/defaultPrivileges:DefaultPrivileges": defaultPrivileges,
  "postgresql:index/extension:Extension": extension,
  "postgresql:index/grant:Grant": grant,
  "postgresql:index/grantRole:GrantRole": grantRole,
  "postgresql:index/role:Role": role,
  "postgresql:index/schema:Schema": schema,
};

export interface PluginOptions {
  /** That of the SDK, so that the engine has nothing to warn of. */
  version: string;
  log: Log;
  environment: Environment;
}

/**
 * A stand-in for Pulumi's PostgreSQL plugin: the resources of a database, with the statements, states, diffs and errors
 * of the real one (seen at 3.18.1), which takes nothing that the SDK's types do not have.
 */
export function postgresqlPlugin({ version, log, environment }: PluginOptions): Plugin {
  let server = new Server(serverSettings({}, environment));

  /** Failures are printed as the real plugin prints them: once by itself, and once by the engine. */
  async function printing<T>(urn: string, doing: string | undefined, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { message } = error as Error;
      await log(
        "error",
        `  sdk-v2/provider2.go:571: sdk.helper_schema: ${message}: provider=postgresql@${version}`,
        urn,
      );
      const where = doing === undefined ? "" : `${doing} ${urn}: `;
      throw new Error(`${where}1 error occurred:\n\t* ${message}\n\n`, { cause: error });
    }
  }

  return {
    version,
    checkConfig: checkedProvider,
    diffConfig: providerDiff,
    configure({ args }) {
      server = new Server(serverSettings(args, environment));
      return { supportsPreview: true, supportsAutonamingConfiguration: true };
    },
    check({ type, name, olds, news }) {
      const resource = resourceOf(type);
      const given = reveal(news) as Properties;
      const failures = failuresOf(resource.schema, given, name);
      const inputs = withDefaults(resource.schema, { name, olds: reveal(olds) as Properties }, given);
      return { inputs: markSecrets(resource.schema, inputs), ...(failures.length > 0 && { failures }) };
    },
    diff({ type, ...request }) {
      return diffOf(resourceOf(type), reveal(request.olds) as Properties, reveal(request.news) as Properties);
    },
    async create({ urn, type, properties, preview = false }) {
      const resource = resourceOf(type);
      const plan = planOf(resource.schema, reveal(properties) as Properties);
      if (preview) return { properties: stored(resource.schema, { ...collectionsOf(resource, plan), id: unknown }) };
      const settled = decided(plan);
      const id = await printing(urn, undefined, () => resource.create(server, settled));
      const state = { ...settled, id };
      try {
        const read = await printing(urn, "creating", () => resource.read(server, state));
        return { id, properties: stored(resource.schema, collectionsOf(resource, { ...state, ...read })) };
      } catch (error) {
        const made = stored(resource.schema, collectionsOf(resource, state));
        throw new InitializationError((error as Error).message, id, made);
      }
    },
    async read({ urn, type, id, ...request }) {
      const resource = resourceOf(type);
      const known = reveal(request.properties ?? {}) as Properties;
      const isImport = Object.keys(known).length === 0;
      if (isImport && resource.imported === undefined) return gone;
      const state: Properties = isImport ? { ...importedState(resource, id), id } : { id, ...known };
      const found = await printing(urn, "refreshing", async () => {
        const exists = (await resource.exists?.(server, state)) ?? true;
        return exists ? resource.read(server, state) : undefined;
      });
      if (found === undefined) return gone;
      const outputs = { ...state, ...found };
      const inputs = isImport
        ? importedInputs(resource.schema, outputs)
        : refreshedInputs(resource.schema, reveal(request.inputs ?? {}) as Properties, outputs);
      return {
        id: String(outputs.id),
        properties: stored(resource.schema, outputs),
        inputs: markSecrets(resource.schema, inputs),
      };
    },
    async update({ urn, type, id, preview = false, ...request }) {
      const resource = resourceOf(type);
      const [olds, news] = [reveal(request.olds) as Properties, reveal(request.news) as Properties];
      const state: Properties = { id, ...olds };
      const plan = planOf(resource.schema, news, state);
      const settled = { ...state, ...plan };
      if (!preview) {
        const changes = changesOf(resource.schema, olds, news);
        await printing(urn, "updating", async () => {
          await resource.update(server, plan, state, (name) => changes.has(name));
          Object.assign(settled, await resource.read(server, { ...settled, id: null }));
        });
      }
      const outputs = collectionsOf(resource, settled, { plan, olds });
      return { properties: stored(resource.schema, outputs) };
    },
    async delete({ urn, type, properties }) {
      const state = reveal(properties) as Properties;
      await printing(urn, "deleting", () => resourceOf(type).delete(server, state));
    },
    async invoke({ tok }) {
      throw new Error(`The stand-in for PostgreSQL's plugin has no function ${tok}.`);
    },
  };
}

/** As the engine is told that there is no such thing. */
const gone = { properties: {}, inputs: {} };

function resourceOf(type: string): Resource {
  const resource = Object.hasOwn(resources, type) ? resources[type] : undefined;
  if (resource === undefined) throw new Error(`The stand-in for PostgreSQL's plugin has no resource ${type}.`);
  return resource;
}

function importedState(resource: Resource, id: string): Plan {
  const nothing = Object.fromEntries(Object.keys(resource.schema).map((name) => [name, null]));
  return { ...nothing, ...resource.imported?.(id) };
}

/**
 * Outputs with empty lists as Terraform's state has them. One that never had an item is null; one that the program
 * empties is empty after an update, whatever the server has left in it.
 */
function collectionsOf(
  { schema }: Resource,
  outputs: Properties,
  update?: { plan: Plan; olds: Properties },
): Properties {
  const values = Object.entries(outputs).map(([name, value]) => {
    const property = schema[name];
    if (property === undefined || !isCollection(property)) return [name, value];
    const isLeftEmpty = update !== undefined && isEmpty(update.plan[name]);
    if (!isEmpty(value) && value !== null && !isLeftEmpty) return [name, value];
    const hadAny = update !== undefined && (update.olds[name] ?? null) !== null;
    return [name, hadAny ? [] : null];
  });
  return Object.fromEntries(values) as Properties;
}
