import { setTimeout as delay } from "node:timers/promises";
import type { Account } from "./account.ts";
import type { Deployments } from "./deployments.ts";
import type { Environment, Instance, Project, Service, VolumeInstance } from "./model.ts";
import type { Network } from "./network.ts";

/** Removes a volume's data. */
export type RemoveData = (directory: string) => Promise<void>;

/** What goes with what, and in which order. */
export class Removal {
  readonly #account: Account;
  readonly #deployments: Deployments;
  readonly #network: Network;
  readonly #removeData: RemoveData;
  readonly #closing = new AbortController();
  readonly #scheduled = new Set<Promise<void>>();

  constructor(account: Account, deployments: Deployments, network: Network, removeData: RemoveData) {
    this.#account = account;
    this.#deployments = deployments;
    this.#network = network;
    this.#removeData = removeData;
  }

  /** A project takes everything in it along. */
  async project(project: Project): Promise<void> {
    if (project.deletedAt !== null) return;
    this.#account.delete("projects", project);
    for (const environment of this.#account.environmentsOf(project.id)) await this.environment(environment);
    for (const service of this.#account.servicesOf(project.id)) this.#account.delete("services", service);
    for (const volume of this.#account.volumesOf(project.id)) this.#account.delete("volumes", volume);
  }

  async environment(environment: Environment): Promise<void> {
    const { store } = this.#account;
    const mine = (one: { environmentId: string }): boolean => one.environmentId === environment.id;
    await Promise.all(
      store
        .list("instances")
        .filter(mine)
        .map((instance) => this.instance(instance)),
    );
    await Promise.all(
      store
        .list("volumeInstances")
        .filter(mine)
        .map((volume) => this.#volumeAtOnce(volume)),
    );
    this.#account.delete("environments", environment);
  }

  /** A service goes with its domains and proxies; its volume is left, belonging to nothing. */
  async service(service: Service, environmentId: string | null | undefined): Promise<void> {
    await Promise.all(this.#account.instances(service.id, environmentId).map((instance) => this.instance(instance)));
    const isLeft = this.#account.store.list("instances").some(({ serviceId }) => serviceId === service.id);
    if (!isLeft) this.#account.delete("services", service);
  }

  async instance(instance: Instance): Promise<void> {
    const { store } = this.#account;
    await this.#deployments.removeAll(instance);
    for (const domain of this.#account.domainsOf(instance)) this.domain(domain.id);
    for (const proxy of store.list("tcpProxies")) if (isOf(proxy, instance)) this.tcpProxy(proxy.id);
    for (const volume of store.list("volumeInstances")) {
      if (isOf(volume, instance)) store.save("volumeInstances", Object.assign(volume, { serviceId: null }));
    }
    this.#account.delete("instances", instance);
  }

  domain(id: string): void {
    this.#network.closePublic(id);
    this.#account.delete("domains", this.#account.store.get("domains", id)!);
  }

  tcpProxy(id: string): void {
    this.#network.closePublic(id);
    this.#account.delete("tcpProxies", this.#account.store.get("tcpProxies", id)!);
  }

  /** A volume can be restored for a while: it is pending, and shows when it will be gone. */
  volume(instance: VolumeInstance): void {
    const { store, delays } = this.#account;
    instance.deletionAt = Date.now() + delays.volumeDeletion;
    this.#later(instance.deletionAt, () => this.#volumeAtOnce(instance));
    store.save("volumeInstances", instance);
  }

  /** Until it is gone, all goes on as it was. */
  scheduleProject(project: Project): void {
    const { store, delays } = this.#account;
    project.deletionAt = Date.now() + delays.projectDeletion;
    this.#later(project.deletionAt, () => this.project(project));
    store.save("projects", project);
  }

  /** What was to be gone by now, or is to be later. */
  resume(): void {
    const { store } = this.#account;
    for (const one of store.list("volumeInstances")) this.#later(one.deletionAt, () => this.#volumeAtOnce(one));
    for (const one of store.list("projects")) this.#later(one.deletionAt, () => this.project(one));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#scheduled);
  }

  #later(at: number | null, remove: () => Promise<void>): void {
    if (at === null) return;
    const { signal } = this.#closing;
    const done = delay(Math.max(0, at - Date.now()), undefined, { signal, ref: false })
      .then(remove)
      .catch((error: Error) => {
        if (error.name !== "AbortError") process.stderr.write(`${error.stack}\n`);
      })
      .finally(() => this.#scheduled.delete(done));
    this.#scheduled.add(done);
  }

  async #volumeAtOnce(instance: VolumeInstance): Promise<void> {
    const { store } = this.#account;
    if (instance.deletedAt !== null) return;
    this.#account.delete("volumeInstances", instance);
    const isLeft = store.list("volumeInstances").some(({ volumeId }) => volumeId === instance.volumeId);
    if (!isLeft) this.#account.delete("volumes", store.get("volumes", instance.volumeId)!);
    const folder = this.#deployments.volumeFolder(instance.volumeId);
    // Whoever removes a project is not told of it, and must not be left with the half of one.
    await this.#removeData(folder).catch((error: Error) => process.stderr.write(`${folder} stays: ${error.message}\n`));
  }
}

function isOf(one: { serviceId: string | null; environmentId: string }, instance: Instance): boolean {
  return one.serviceId === instance.serviceId && one.environmentId === instance.environmentId;
}
