import type { EnvironmentState, Instance } from "./client/environment.ts";

/** What a service runs and how. Whatever is not given is as Railway has it by default. */
export interface ServiceSettings {
  /** Image with its tag, such as `quay.io/lakekeeper/catalog:v0.13.3`. */
  readonly sourceImage?: string | undefined;
  /** For a private registry. Secret; Railway never gives it back. */
  readonly registryCredentials?: { readonly username: string; readonly password: string } | undefined;
  /** In place of the image's entrypoint, without a shell: a path in the image and its arguments. */
  readonly startCommand?: string | undefined;
  /** Run before each deployment, in a container of its own. */
  readonly preDeployCommand?: string | undefined;
  /** Path that must answer 200 before a deployment is active. */
  readonly healthcheckPath?: string | undefined;
  /** Seconds. @default 300 */
  readonly healthcheckTimeout?: number | undefined;
  /** @default ON_FAILURE */
  readonly restartPolicyType?: "ALWAYS" | "NEVER" | "ON_FAILURE" | undefined;
  /** @default 10 */
  readonly restartPolicyMaxRetries?: number | undefined;
  /** In `region`. @default 1 */
  readonly numReplicas?: number | undefined;
  readonly region?: string | undefined;
  /** Several regions, in place of `region` and `numReplicas`. */
  readonly regions?: readonly { readonly region: string; readonly numReplicas: number }[] | undefined;
  /** Seconds between SIGTERM and SIGKILL. @default 0 */
  readonly drainingSeconds?: number | undefined;
  /** Seconds for which the old deployment stays beside the new one. @default 0 */
  readonly overlapSeconds?: number | undefined;
  /** Sleeps while nobody asks. @default false */
  readonly sleepApplication?: boolean | undefined;
  /** UTC, at most every five minutes. */
  readonly cronSchedule?: string | undefined;
  readonly limits?: { readonly memoryGB?: number | undefined; readonly vCPUs?: number | undefined } | undefined;
}

/** Every setting that can be read back, with its default filled in and every spelling made one; null is none. */
export interface NormalSettings {
  readonly sourceImage: string | null;
  readonly startCommand: string | null;
  readonly preDeployCommand: string | null;
  readonly healthcheckPath: string | null;
  readonly healthcheckTimeout: number;
  readonly restartPolicyType: string;
  readonly restartPolicyMaxRetries: number;
  /** Replicas by region; the key is empty for Railway's default region. */
  readonly replicas: Readonly<Record<string, number>>;
  readonly drainingSeconds: number;
  readonly overlapSeconds: number;
  readonly sleepApplication: boolean;
  readonly cronSchedule: string | null;
  readonly memoryGB: number | null;
  readonly vCPUs: number | null;
}

export function normalSettings(settings: ServiceSettings): NormalSettings {
  const { region = "", numReplicas = 1, regions, limits } = settings;
  return {
    sourceImage: settings.sourceImage === undefined ? null : normalImage(settings.sourceImage),
    startCommand: settings.startCommand ?? null,
    preDeployCommand: settings.preDeployCommand ?? null,
    healthcheckPath: settings.healthcheckPath ?? null,
    healthcheckTimeout: settings.healthcheckTimeout ?? 300,
    restartPolicyType: settings.restartPolicyType ?? "ON_FAILURE",
    restartPolicyMaxRetries: settings.restartPolicyMaxRetries ?? 10,
    replicas: regions
      ? Object.fromEntries(regions.map(({ region, numReplicas }) => [region, numReplicas]))
      : { [region]: numReplicas },
    drainingSeconds: settings.drainingSeconds ?? 0,
    overlapSeconds: settings.overlapSeconds ?? 0,
    sleepApplication: settings.sleepApplication ?? false,
    cronSchedule: settings.cronSchedule ?? null,
    memoryGB: limits?.memoryGB ?? null,
    vCPUs: limits?.vCPUs ?? null,
  };
}

/** How a service is set. Where a setting leaves the region to Railway, the one that it chose is no difference. */
export function liveSettings(instance: Instance, state: EnvironmentState, wanted: NormalSettings): NormalSettings {
  const deploy = state.config.services?.[instance.serviceId]?.deploy;
  const containers = deploy?.limitOverride?.containers;
  return {
    sourceImage: instance.source?.image ? normalImage(instance.source.image) : null,
    startCommand: instance.startCommand || null,
    preDeployCommand: preDeployText(instance.preDeployCommand),
    healthcheckPath: instance.healthcheckPath || null,
    healthcheckTimeout: instance.healthcheckTimeout ?? 300,
    restartPolicyType: instance.restartPolicyType,
    restartPolicyMaxRetries: instance.restartPolicyMaxRetries,
    replicas: liveReplicas(instance, deploy?.multiRegionConfig, wanted.replicas),
    drainingSeconds: instance.drainingSeconds ?? 0,
    overlapSeconds: instance.overlapSeconds ?? 0,
    sleepApplication: instance.sleepApplication ?? false,
    cronSchedule: instance.cronSchedule || null,
    memoryGB: containers?.memoryBytes == null ? null : gigabytes(containers.memoryBytes),
    vCPUs: containers?.cpu ?? null,
  };
}

/** Railway does not say which gigabyte it means: the one that comes out even is taken. */
function gigabytes(bytes: number): number {
  return bytes % 2 ** 30 === 0 ? bytes / 2 ** 30 : bytes / 1e9;
}

type MultiRegion = Readonly<Record<string, { numReplicas?: number | null | undefined } | null>> | null | undefined;

function liveReplicas(instance: Instance, multiRegion: MultiRegion, wanted: NormalSettings["replicas"]) {
  const configured = Object.entries(multiRegion ?? {}).flatMap(([region, config]) =>
    config === null ? [] : [[region, config.numReplicas ?? 1] as const],
  );
  const isDefaultRegion = Object.keys(wanted).join() === "";
  const [first] = configured;
  // The instance's own count is of one region only, and says 1 for a service with several.
  if (first === undefined) return { [isDefaultRegion ? "" : (instance.region ?? "")]: instance.numReplicas ?? 1 };
  return isDefaultRegion && configured.length === 1 ? { "": first[1] } : Object.fromEntries(configured);
}

const SENT_AS_THEY_ARE = [
  "startCommand",
  "healthcheckPath",
  "healthcheckTimeout",
  "restartPolicyType",
  "restartPolicyMaxRetries",
  "drainingSeconds",
  "overlapSeconds",
  "sleepApplication",
  "cronSchedule",
] as const;

/**
 * The input of serviceInstanceUpdate. Everything is always sent: null unsets, and an absent numReplicas would become 1.
 */
export function settingsToWire(settings: ServiceSettings, live: NormalSettings): Record<string, unknown> {
  const normal = normalSettings(settings);
  const { sourceImage, preDeployCommand, replicas } = normal;
  return {
    ...Object.fromEntries(SENT_AS_THEY_ARE.map((name) => [name, normal[name]])),
    ...(sourceImage !== null && { source: { image: settings.sourceImage } }),
    ...(sourceImage === null && live.sourceImage !== null && { source: null }),
    ...(settings.registryCredentials && { registryCredentials: settings.registryCredentials }),
    preDeployCommand: preDeployCommand === null ? null : [preDeployCommand],
    ...replicasToWire(replicas, live.replicas),
  };
}

function replicasToWire(wanted: NormalSettings["replicas"], live: NormalSettings["replicas"]): Record<string, unknown> {
  const [numReplicas = 1] = Object.values(wanted);
  const liveRegions = Object.keys(live).filter((region) => region !== "");
  const [kept] = liveRegions;
  if ("" in wanted && kept === undefined) return { numReplicas };
  const target = "" in wanted && kept !== undefined ? { [kept]: numReplicas } : wanted;
  // A region that is left out would stay: it has to be null.
  const dropped = liveRegions.filter((region) => !(region in target)).map((region) => [region, null]);
  const set = Object.entries(target).map(([region, count]) => [region, { numReplicas: count }]);
  return { numReplicas, multiRegionConfig: Object.fromEntries([...dropped, ...set]) as unknown };
}

/** `x` is `docker.io/library/x:latest`. */
export function normalImage(image: string): string {
  const [first = "", ...rest] = image.trim().split("/");
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  const path = hasRegistry ? image.trim() : `docker.io/${rest.length === 0 ? "library/" : ""}${image.trim()}`;
  return /[:@][^/]*$/.test(path) ? path : `${path}:latest`;
}

/** It is written as a list and read as a list or a text. */
function preDeployText(command: unknown): string | null {
  const parts = Array.isArray(command) ? (command as unknown[]) : [command];
  return parts.filter((part) => typeof part === "string" && part !== "").join(" && ") || null;
}
