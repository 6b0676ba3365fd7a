import { join } from "node:path";
import { loopbackAddress, type Account } from "./account.ts";
import { DeploymentLife, isOver, type LifeParts } from "./deploymentLife.ts";
import { Refusal } from "./errors.ts";
import type { Deployment, Instance } from "./model.ts";
import { USUAL_PORT, type Network } from "./network.ts";
import type { Runtime } from "./runtime.ts";
import { rendered } from "./variables.ts";

/** The deployments of all services, and their lives. */
export class Deployments {
  readonly #account: Account;
  readonly #network: Network;
  readonly #volumes: string;
  readonly #closing = new AbortController();
  readonly #lifeParts: LifeParts;
  readonly #lives = new Map<string, DeploymentLife>();
  readonly #running = new Set<Promise<void>>();

  constructor(account: Account, runtime: Runtime, network: Network, directory: string) {
    this.#account = account;
    this.#network = network;
    this.#volumes = join(directory, "volumes");
    this.#lifeParts = {
      account,
      runtime,
      network,
      closing: this.#closing.signal,
      volumeFolder: (volumeId) => this.volumeFolder(volumeId),
      before: (deployment) => this.#before(deployment),
    };
  }

  /** Goes on with what an emulator before this one has left. */
  resume(): void {
    for (const deployment of this.#account.store.list("deployments").filter((one) => !isOver(one))) {
      const life = this.#life(deployment);
      this.#keep(deployment.status === "REMOVING" ? life.remove() : life.run());
    }
  }

  /** Deploys a service as it is now. */
  deploy(instance: Instance): Deployment {
    const { store } = this.#account;
    const { projectId } = this.#account.service(instance.serviceId);
    if (!instance.settings.source?.image) throw new Refusal("Cannot deploy a service without a source");
    const born = this.#account.born();
    const deployment = store.save("deployments", {
      ...born,
      projectId,
      environmentId: instance.environmentId,
      serviceId: instance.serviceId,
      settings: structuredClone(instance.settings),
      variables: {
        PORT: String(USUAL_PORT),
        ...rendered(this.#account, instance),
        RAILWAY_DEPLOYMENT_ID: born.id,
      },
      // A volume is at one container at a time, which can then have the service's own address.
      address: this.#account.volumeOf(instance) ? instance.address : loopbackAddress(born.id),
      status: "INITIALIZING",
      statusUpdatedAt: born.createdAt,
      deploymentStopped: false,
      instanceStatus: "INITIALIZING",
      restarts: 0,
      events: [],
    });
    const proxy = this.#account.proxyOf(instance);
    if (proxy?.awaitsDeployment) store.save("tcpProxies", Object.assign(proxy, { awaitsDeployment: false }));
    this.#keep(this.#life(deployment).run());
    return deployment;
  }

  /** Those of a service in an environment, newest first. */
  of({ serviceId, environmentId }: Pick<Instance, "serviceId" | "environmentId">): Deployment[] {
    return this.#account.store
      .list("deployments")
      .filter((one) => one.serviceId === serviceId && one.environmentId === environmentId)
      .reverse();
  }

  /** Takes one away, whatever has become of it. */
  async remove(deployment: Deployment): Promise<void> {
    await this.#life(deployment).remove();
  }

  async stop(deployment: Deployment): Promise<void> {
    await this.#life(deployment).stop();
  }

  /** Ends all that runs of a service, which is being deleted. */
  async removeAll(instance: Instance): Promise<void> {
    await Promise.all(this.of(instance).map((one) => this.#life(one).remove()));
    this.#network.closePrivate(instance.id);
  }

  /** Where the data of a volume is. */
  volumeFolder(volumeId: string): string {
    return join(this.#volumes, volumeId);
  }

  /** Containers go on running; what is under way is picked up by the next emulator. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  #life(deployment: Deployment): DeploymentLife {
    const life = this.#lives.get(deployment.id) ?? new DeploymentLife(this.#lifeParts, deployment);
    this.#lives.set(deployment.id, life);
    return life;
  }

  /** Of the same service and older, those that still are something. */
  #before(deployment: Deployment): DeploymentLife[] {
    const all = this.of(deployment);
    const older = all.slice(all.findIndex(({ id }) => id === deployment.id) + 1);
    return older.filter(({ status }) => status !== "REMOVED" && status !== "FAILED").map((one) => this.#life(one));
  }

  #keep(work: Promise<void>): void {
    const kept = work.finally(() => this.#running.delete(kept));
    this.#running.add(kept);
  }
}
