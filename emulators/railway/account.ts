import { createHash, randomInt, randomUUID } from "node:crypto";
import { Refusal, notFound } from "./errors.ts";
import type {
  Domain,
  Environment,
  Instance,
  Kinds,
  Project,
  Service,
  TcpProxy,
  Volume,
  VolumeInstance,
} from "./model.ts";
import type { Store } from "./store.ts";

/** How long what happens at Railway takes, in milliseconds. */
export interface Delays {
  /** Until a new instance, volume, domain or proxy shows up in reads. */
  readonly visible: number;
  /** Until a backup is done. */
  readonly backup: number;
  /** That a second of a service's settings lasts: of its health check's timeout, of overlap and draining. */
  readonly second: number;
  /** Until a container that has ended is started again. */
  readonly restart: number;
  /** Until a volume that is to be deleted is gone. */
  readonly volumeDeletion: number;
  /** Until a project whose deletion is scheduled is gone. */
  readonly projectDeletion: number;
  /** Between two looks at a health check. */
  readonly probe: number;
}

/** The account: what it holds, and the rules that hold for all of it. */
export class Account {
  readonly store: Store;
  readonly delays: Delays;
  readonly workspaceId: string;

  constructor(store: Store, workspaceId: string, delays: Delays) {
    this.store = store;
    this.workspaceId = workspaceId;
    this.delays = delays;
  }

  /** Fields that everything has. */
  born(): { id: string; createdAt: string; updatedAt: string; deletedAt: null } {
    const now = new Date().toISOString();
    return { id: randomUUID(), createdAt: now, updatedAt: now, deletedAt: null };
  }

  visibleAt(): number {
    return Date.now() + this.delays.visible;
  }

  project(id: string): Project {
    return this.#live("projects", id, "Project");
  }

  environment(id: string): Environment {
    return this.#live("environments", id, "Environment");
  }

  service(id: string): Service {
    return this.#live("services", id, "Service");
  }

  environmentIn(projectId: string, id: string): Environment {
    const environment = this.environment(id);
    if (environment.projectId !== this.project(projectId).id) throw notFound("Environment");
    return environment;
  }

  /** Where something is done that is to be done in one environment: when that is no fork, in all that are none. */
  environmentsLike(projectId: string, id: string | null | undefined): Environment[] {
    const named = id == null ? undefined : this.environmentIn(projectId, id);
    return named?.isFork ? [named] : this.environmentsOf(projectId).filter(({ isFork }) => !isFork);
  }

  environmentsOf(projectId: string): Environment[] {
    return this.store.list("environments").filter((environment) => environment.projectId === projectId);
  }

  servicesOf(projectId: string): Service[] {
    return this.store.list("services").filter((service) => service.projectId === projectId);
  }

  /** Also while it does not show up yet. */
  instance(serviceId: string, environmentId: string): Instance {
    const found = this.store
      .list("instances")
      .find((instance) => instance.serviceId === serviceId && instance.environmentId === environmentId);
    if (found === undefined) throw notFound("ServiceInstance");
    return found;
  }

  /** The instances of a service that a change of it in one environment is about, see {@link environmentsLike}. */
  instances(serviceId: string, environmentId: string | null | undefined): Instance[] {
    const places = this.environmentsLike(this.service(serviceId).projectId, environmentId).map(({ id }) => id);
    return this.store
      .list("instances")
      .filter((one) => one.serviceId === serviceId && places.includes(one.environmentId));
  }

  instanceNamed(name: string, environmentId: string): Instance | undefined {
    return this.store
      .list("instances")
      .find((one) => one.environmentId === environmentId && this.service(one.serviceId).name === name);
  }

  volumeOf({ serviceId, environmentId }: Pick<Instance, "serviceId" | "environmentId">): VolumeInstance | undefined {
    return this.store
      .list("volumeInstances")
      .find((one) => one.serviceId === serviceId && one.environmentId === environmentId && one.deletionAt === null);
  }

  volumeInstance(volumeId: string, environmentId: string | null | undefined): VolumeInstance {
    const found = this.store
      .list("volumeInstances")
      .find((one) => one.volumeId === volumeId && (environmentId == null || one.environmentId === environmentId));
    if (found === undefined || found.deletionAt !== null) throw notFound("Volume");
    return found;
  }

  volumesOf(projectId: string): Volume[] {
    return this.store.list("volumes").filter((volume) => volume.projectId === projectId);
  }

  domainsOf({ serviceId, environmentId }: { serviceId: string; environmentId: string }): Domain[] {
    return this.store
      .list("domains")
      .filter((domain) => domain.serviceId === serviceId && domain.environmentId === environmentId);
  }

  proxyOf({ serviceId, environmentId }: Pick<Instance, "serviceId" | "environmentId">): TcpProxy | undefined {
    return this.store
      .list("tcpProxies")
      .find((one) => one.serviceId === serviceId && one.environmentId === environmentId);
  }

  /** Addresses of an environment's services by their private names. */
  hosts(environmentId: string): Record<string, string> {
    const instances = this.store.list("instances").filter((one) => one.environmentId === environmentId);
    return Object.fromEntries(instances.map((one) => [this.privateName(this.service(one.serviceId)), one.address]));
  }

  /** The private name of a service. */
  privateName({ name }: Service): string {
    return name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "");
  }

  requireServiceName(projectId: string, name: string, except?: string): void {
    if (name.length > 32) throw new Refusal("Service name must be at most 32 characters long");
    if (this.servicesOf(projectId).some((service) => service.name === name && service.id !== except)) {
      throw new Refusal("A service with that name already exists");
    }
  }

  /** Makes the instance of a service in an environment, which shows up after a while. */
  addInstance(serviceId: string, environmentId: string): Instance {
    return this.store.save("instances", {
      ...this.born(),
      serviceId,
      environmentId,
      visibleAt: this.visibleAt(),
      address: loopbackAddress(`${serviceId} ${environmentId}`),
      variables: {},
      sealed: [],
      settings: {
        source: null,
        startCommand: null,
        preDeployCommand: null,
        healthcheckPath: null,
        healthcheckTimeout: null,
        restartPolicyType: "ON_FAILURE",
        restartPolicyMaxRetries: 10,
        numReplicas: 1,
        multiRegionConfig: null,
        region: null,
        drainingSeconds: null,
        overlapSeconds: null,
        sleepApplication: false,
        cronSchedule: null,
        limits: null,
      },
    });
  }

  delete<K extends keyof Kinds>(kind: K, object: Kinds[K]): void {
    object.deletedAt = new Date().toISOString();
    this.store.save(kind, object);
  }

  #live<K extends "projects" | "environments" | "services">(kind: K, id: string, what: string): Kinds[K] {
    const found = this.store.get(kind, id);
    if (found === undefined || found.deletedAt !== null) throw notFound(what);
    return found;
  }
}

/** One of the addresses of this machine's loopback network, the same for the same text. None ends in 0 or 255. */
export function loopbackAddress(of: string): string {
  const [a = 0, b = 0, c = 0] = createHash("sha256").update(of).digest();
  return `127.${(a % 250) + 2}.${b}.${(c % 253) + 1}`;
}

const WORDS = ["amber", "brisk", "cedar", "dawn", "ember", "flint", "grove", "harbor", "iris", "juniper"];

/** As Railway makes up names. */
export function randomName(): string {
  const word = () => WORDS[randomInt(WORDS.length)]!;
  return `${word()}-${word()}-${randomInt(1_000, 10_000)}`;
}
