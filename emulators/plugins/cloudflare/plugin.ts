import { secret, reveal, unknown, type Log, type Plugin, type Properties } from "../protocol.ts";
import type { CloudflareApi } from "./api.ts";
import { Diagnostic } from "./diagnostics.ts";
import { permissionGroups } from "./permissionGroups.ts";
import { configuredApi, providerDiff, providerFailures, withSecrets, type Environment } from "./provider.ts";
import { Spent, type Found, type Plan, type Resource } from "./resource.ts";
import { accountToken } from "./resources/accountToken.ts";
import { dnsRecord } from "./resources/dnsRecord.ts";
import { r2Bucket } from "./resources/r2Bucket.ts";
import { r2BucketLifecycle, r2BucketLock } from "./resources/r2BucketRules.ts";
import { workersCustomDomain } from "./resources/workersCustomDomain.ts";
import { workersScript } from "./resources/workersScript.ts";
import { workersScriptSubdomain } from "./resources/workersScriptSubdomain.ts";
import { changedIn, failuresOf, markSecrets } from "./schema.ts";

const resources: Record<string, Resource> = {
  "cloudflare:index/accountToken:AccountToken": accountToken,
  "cloudflare:index/dnsRecord:DnsRecord": dnsRecord,
  "cloudflare:index/r2Bucket:R2Bucket": r2Bucket,
  "cloudflare:index/r2BucketLifecycle:R2BucketLifecycle": r2BucketLifecycle,
  "cloudflare:index/r2BucketLock:R2BucketLock": r2BucketLock,
  "cloudflare:index/workersCustomDomain:WorkersCustomDomain": workersCustomDomain,
  "cloudflare:index/workersScript:WorkersScript": workersScript,
  "cloudflare:index/workersScriptSubdomain:WorkersScriptSubdomain": workersScriptSubdomain,
};

const functions: Record<string, (api: CloudflareApi, args: Properties) => Promise<Properties>> = {
  "cloudflare:index/getAccountApiTokenPermissionGroupsList:getAccountApiTokenPermissionGroupsList": permissionGroups,
};

export interface PluginOptions {
  /** That of the SDK, so that the engine has nothing to warn of. */
  version: string;
  log: Log;
  environment: Environment;
  /** How much of the real plugin's waits between tries is waited. */
  patience: number;
}

/**
 * A stand-in for Pulumi's Cloudflare plugin: the resources of this project, with the requests, states, diffs and errors
 * of the real one (seen at level 6.17), which takes nothing that the SDK's types do not have.
 */
export function cloudflarePlugin({ version, log, environment, patience }: PluginOptions): Plugin {
  let api = configuredApi({}, environment, patience);

  /** Failures are printed as the real plugin prints them: once by itself, and once by the engine. */
  async function printing<T>(urn: string | undefined, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Diagnostic) await log("error", error.line, urn);
      throw error;
    }
  }

  return {
    version,
    checkConfig: (request) => {
      const failures = providerFailures(request);
      return { inputs: withSecrets(request.news), ...(failures.length > 0 && { failures }) };
    },
    diffConfig: providerDiff,
    configure({ args }) {
      api = configuredApi(args, environment, patience);
      return { supportsPreview: true, acceptResources: true, supportsAutonamingConfiguration: true };
    },
    check({ type, name, news }) {
      const { inputs: schema } = resourceOf(type);
      const inputs = reveal(news) as Properties;
      const failures = failuresOf(schema, inputs, name);
      return { inputs: markSecrets(schema, inputs), ...(failures.length > 0 && { failures }) };
    },
    diff({ type, ...request }) {
      const resource = resourceOf(type);
      const [olds, news] = [reveal(request.olds) as Properties, reveal(request.news) as Properties];
      const changed = changedIn(resource.inputs, news, olds);
      if (changed.length === 0) return { changes: "DIFF_NONE" };
      const replaces = changed.filter((name) => resource.inputs[name]?.replaces === true);
      const diffs = [...new Set([...changed, ...resource.unsettled(changed, news)])].sort();
      return { ...(replaces.length > 0 && { replaces }), changes: "DIFF_SOME", diffs };
    },
    async create({ urn, type, properties, preview = false }) {
      const resource = resourceOf(type);
      const plan = planOf(resource, reveal(properties) as Properties, {});
      if (preview) {
        const left = Object.entries(resource.inputs).filter(([name, each]) => each.computed && !(name in plan));
        const unknowns = [...resource.made, ...left.map(([name]) => name)].map((name) => [name, unknown]);
        return { properties: marked(resource, { ...(Object.fromEntries(unknowns) as Properties), ...plan }) };
      }
      const { id, outputs } = await printing(urn, () => resource.create(api, plan));
      return { id, properties: stateOf(resource, outputs) };
    },
    async read({ urn, type, id, ...request }) {
      const resource = resourceOf(type);
      const state = reveal(request.properties ?? {}) as Properties;
      const isImport = Object.keys(state).length === 0;
      return printing(urn, async () => {
        const known: Properties = isImport ? resource.imported(id) : state;
        const itsId = isImport && typeof known["id"] === "string" ? known["id"] : id;
        const read = (): Promise<Found | Spent | undefined> => resource.read(api, known, itsId).catch(spent);
        // An import is a read of its own, before the one that every refresh makes.
        const found = isImport && (await read()) === undefined ? undefined : await read();
        if (found === undefined || found instanceof Spent) {
          const { summary, message } = found ?? notFound;
          await log("warning", `[WARNING] ${message}: ${summary}`, urn);
          return { properties: {}, inputs: {} };
        }
        const names = isImport ? Object.keys(resource.inputs) : Object.keys(request.inputs ?? {});
        const inputs: Properties = Object.fromEntries(names.map((name) => [name, found.outputs[name]]));
        return {
          id: found.id,
          properties: stateOf(resource, found.outputs),
          inputs: markSecrets(resource.inputs, defined(inputs)),
        };
      });
    },
    async update({ urn, type, preview = false, ...request }) {
      const resource = resourceOf(type);
      const [olds, news] = [reveal(request.olds) as Properties, reveal(request.news) as Properties];
      const changed = changedIn(resource.inputs, news, olds);
      const unsettled = resource.unsettled(changed, news);
      const plan = planOf(resource, news, olds, unsettled);
      if (preview) {
        const unknowns = Object.fromEntries(unsettled.map((name) => [name, unknown])) as Properties;
        return { properties: marked(resource, { ...olds, ...unknowns, ...plan, __meta: undefined }) };
      }
      return { properties: stateOf(resource, await printing(urn, () => resource.update(api, plan, olds))) };
    },
    async delete({ urn, type, properties }) {
      const state = reveal(properties) as Properties;
      await printing(urn, () => resourceOf(type).delete(api, state));
    },
    async invoke({ tok, args }) {
      const call = functions[tok];
      if (call === undefined) throw new Error(`The stand-in for Cloudflare's plugin has no function ${tok}.`);
      return { return: await printing(undefined, () => call(api, reveal(args) as Properties)) };
    },
  };
}

const notFound = new Spent(
  "Resource not found",
  "The resource was not found on the server and will be removed from state.",
);

function spent(error: unknown): Spent {
  if (error instanceof Spent) return error;
  throw error;
}

function resourceOf(type: string): Resource {
  const resource = Object.hasOwn(resources, type) ? resources[type] : undefined;
  if (resource === undefined) throw new Error(`The stand-in for Cloudflare's plugin has no resource ${type}.`);
  return resource;
}

/** @param unsettled what the state knows and the API will decide anew */
function planOf({ inputs }: Resource, news: Properties, olds: Properties, unsettled: readonly string[] = []): Plan {
  const planned: Properties = {};
  for (const [name, property] of Object.entries(inputs)) {
    const kept = property.computed === true && !unsettled.includes(name) ? olds[name] : undefined;
    planned[name] = news[name] ?? property.default ?? kept;
  }
  return defined(planned);
}

function stateOf(resource: Resource, outputs: Properties): Properties {
  const { schemaVersion } = resource;
  const meta = schemaVersion !== undefined && { __meta: JSON.stringify({ schema_version: schemaVersion }) };
  return marked(resource, { ...meta, ...outputs });
}

function marked({ inputs, secretOutputs = [] }: Resource, outputs: Properties): Properties {
  const known = markSecrets(inputs, defined(outputs));
  for (const name of secretOutputs)
    if (![undefined, unknown].includes(known[name] as string)) known[name] = secret(known[name]);
  return known;
}

function defined(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
}
