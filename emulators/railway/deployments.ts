import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { loopbackAddress, type Account } from "./account.ts";
import { Refusal } from "./errors.ts";
import type { Deployment, DeploymentStatus, Instance } from "./model.ts";
import type { Network } from "./network.ts";
import type { Container, Runtime } from "./runtime.ts";
import { rendered } from "./variables.ts";

/** Seconds, when the service does not say. */
const HEALTHCHECK_TIMEOUT = 300;
const MOST_LOG_LINES = 5_000;

/**
 * The life of deployments: started, watched, restarted as their policy says, and replaced by the next one.
 *
 * INITIALIZING -> DEPLOYING -> SUCCESS once the container has started or, with a health check, answers; FAILED when it
 * does not in time or the image cannot be pulled; CRASHED when it has ended too often. One that has done its work stays
 * SUCCESS, with `deploymentStopped`. The one before it is then REMOVED.
 */
export class Deployments {
  readonly #account: Account;
  readonly #runtime: Runtime;
  readonly #network: Network;
  readonly #volumes: string;
  readonly #containers = new Map<string, Container>();
  readonly #lives = new Set<Promise<void>>();
  #closing = false;

  constructor(account: Account, runtime: Runtime, network: Network, directory: string) {
    this.#account = account;
    this.#runtime = runtime;
    this.#network = network;
    this.#volumes = join(directory, "volumes");
  }

  /** Goes on with what an emulator before this one has left. */
  async resume(): Promise<void> {
    for (const deployment of this.#account.store.list("deployments")) {
      const isOver = deployment.deploymentStopped || ["CRASHED", "FAILED", "REMOVED"].includes(deployment.status);
      if (isOver) continue;
      if (deployment.status === "REMOVING") this.#status(deployment, "REMOVED");
      else this.#live(this.#continue(deployment));
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
      variables: { PORT: "8080", ...rendered(this.#account, instance), RAILWAY_DEPLOYMENT_ID: born.id },
      // A volume is at one container at a time, which can then have the service's own address.
      address: this.#account.volumeOf(instance) ? instance.address : loopbackAddress(born.id),
      status: "INITIALIZING",
      statusUpdatedAt: born.createdAt,
      deploymentStopped: false,
      instanceStatus: "INITIALIZING",
      restarts: 0,
      events: [],
      logs: [],
    });
    this.#live(this.#run(deployment));
    return deployment;
  }

  /** Those of a service in an environment, newest first. */
  of({ serviceId, environmentId }: Pick<Instance, "serviceId" | "environmentId">): Deployment[] {
    return this.#account.store
      .list("deployments")
      .filter((one) => one.serviceId === serviceId && one.environmentId === environmentId)
      .reverse();
  }

  async remove(deployment: Deployment): Promise<void> {
    this.#status(deployment, "REMOVING");
    await this.#containers.get(deployment.id)?.stop(deployment.settings.drainingSeconds ?? 0);
    deployment.deploymentStopped = true;
    deployment.instanceStatus = "REMOVED";
    this.#status(deployment, "REMOVED");
  }

  async stop(deployment: Deployment): Promise<void> {
    deployment.deploymentStopped = true;
    this.#account.store.save("deployments", deployment);
    await this.#containers.get(deployment.id)?.stop(deployment.settings.drainingSeconds ?? 0);
  }

  /** Ends all that runs of a service, which is being deleted. */
  async removeAll(instance: Instance): Promise<void> {
    const there = this.of(instance).filter(({ status }) => !["REMOVED", "FAILED"].includes(status));
    await Promise.all(there.map((one) => this.remove(one)));
    this.#network.closePrivate(instance.id);
  }

  /** Where the data of a volume is. */
  volumeFolder(volumeId: string): string {
    return join(this.#volumes, volumeId);
  }

  /** Containers go on running; what is under way is picked up by the next emulator. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(this.#lives);
  }

  #live(life: Promise<void>): void {
    const settled = life.finally(() => this.#lives.delete(settled));
    this.#lives.add(settled);
  }

  async #continue(deployment: Deployment): Promise<void> {
    const found = await this.#runtime.find(
      { deploymentId: deployment.id, address: deployment.address },
      this.#logTo(deployment),
    );
    if (found === undefined || deployment.status !== "SUCCESS") return this.#run(deployment);
    this.#containers.set(deployment.id, found);
    await this.#network.openPrivate(deployment);
    await this.#watch(deployment, found);
  }

  async #run(deployment: Deployment): Promise<void> {
    const volume = this.#account.volumeOf(this.#account.instance(deployment.serviceId, deployment.environmentId));
    if (volume !== undefined) await this.#supersede(deployment);
    const container = await this.#start(deployment, "CREATE_CONTAINER");
    if (container === undefined) return;
    this.#status(deployment, "DEPLOYING");
    const { healthcheckPath, healthcheckTimeout } = deployment.settings;
    const ended = this.#watch(deployment, container);
    if (healthcheckPath !== null) {
      const seconds = healthcheckTimeout ?? HEALTHCHECK_TIMEOUT;
      const healthy = await Promise.race([
        this.#becomesHealthy(deployment, healthcheckPath, seconds),
        ended.then(() => "ended"),
      ]);
      if (healthy === "ended" || this.#closing) return;
      if (healthy !== true) {
        await this.#fail(deployment, "HEALTHCHECK", `no 200 at ${healthcheckPath} within ${seconds} s`);
        return;
      }
    }
    if (deployment.status !== "DEPLOYING") return ended;
    this.#status(deployment, "SUCCESS");
    await this.#network.openPrivate(deployment);
    if (volume === undefined) await this.#supersede(deployment);
    await ended;
  }

  /** Starts the container of a deployment; a pull that fails ends it. */
  async #start(deployment: Deployment, step: string): Promise<Container | undefined> {
    const instance = this.#account.instance(deployment.serviceId, deployment.environmentId);
    const service = this.#account.service(deployment.serviceId);
    const volume = this.#account.volumeOf(instance);
    const { source, startCommand } = deployment.settings;
    const event = this.#event(deployment, step);
    try {
      const container = await this.#runtime.start(
        {
          serviceId: service.id,
          serviceName: service.name,
          deploymentId: deployment.id,
          image: source!.image!,
          ...(startCommand !== null && { startCommand }),
          environment: deployment.variables,
          ...(volume && { volume: { mountPath: volume.mountPath, directory: this.volumeFolder(volume.volumeId) } }),
          address: deployment.address,
          hosts: this.#hosts(instance),
        },
        this.#logTo(deployment),
      );
      event.completedAt = new Date().toISOString();
      this.#containers.set(deployment.id, container);
      deployment.instanceStatus = "RUNNING";
      this.#account.store.save("deployments", deployment);
      return container;
    } catch (error) {
      await this.#fail(deployment, step, (error as Error).message);
      return undefined;
    }
  }

  /** Follows a container to its end, and starts it again as often as the policy has it. Resolves when that is over. */
  async #watch(deployment: Deployment, first: Container): Promise<void> {
    for (let container: Container | undefined = first; container !== undefined;) {
      const { exitCode } = await container.finished;
      if (
        this.#closing ||
        deployment.deploymentStopped ||
        ["REMOVING", "REMOVED", "FAILED"].includes(deployment.status)
      )
        return;
      const { restartPolicyType, restartPolicyMaxRetries } = deployment.settings;
      const again =
        restartPolicyType === "ALWAYS" ||
        (restartPolicyType === "ON_FAILURE" && exitCode !== 0 && deployment.restarts < restartPolicyMaxRetries);
      if (!again) {
        // Its container has started: with no health check that is all that was asked of it.
        if (exitCode === 0 && deployment.status === "DEPLOYING" && deployment.settings.healthcheckPath === null) {
          this.#status(deployment, "SUCCESS");
        }
        deployment.deploymentStopped = true;
        deployment.instanceStatus = exitCode === 0 ? "EXITED" : "CRASHED";
        this.#account.store.save("deployments", deployment);
        if (exitCode !== 0) this.#status(deployment, "CRASHED");
        return;
      }
      deployment.restarts += 1;
      deployment.instanceStatus = "RESTARTING";
      this.#account.store.save("deployments", deployment);
      await delay(this.#account.delays.restart);
      if (this.#closing || ["REMOVING", "REMOVED", "FAILED"].includes(deployment.status)) return;
      container = await this.#start(deployment, "CREATE_CONTAINER");
    }
  }

  async #becomesHealthy(deployment: Deployment, path: string, seconds: number): Promise<boolean> {
    const event = this.#event(deployment, "HEALTHCHECK");
    const port = Number(deployment.variables["PORT"] ?? 8080);
    for (const end = Date.now() + seconds * 1_000; Date.now() < end && !this.#closing;) {
      if ((await this.#containers.get(deployment.id)?.probe(path, port)) === 200) {
        event.completedAt = new Date().toISOString();
        return true;
      }
      await delay(this.#account.delays.probe);
    }
    return false;
  }

  /** Takes the deployments before this one away, after the time in which both serve. */
  async #supersede(deployment: Deployment): Promise<void> {
    const before = this.of(deployment).filter(
      ({ id, status, createdAt }) =>
        id !== deployment.id && createdAt <= deployment.createdAt && !["REMOVED", "FAILED"].includes(status),
    );
    if (before.some(({ deploymentStopped }) => !deploymentStopped)) {
      await delay(Math.min(deployment.settings.overlapSeconds ?? 0, 1) * 1_000);
    }
    await Promise.all(before.map((one) => this.remove(one)));
  }

  async #fail(deployment: Deployment, step: string, error: string): Promise<void> {
    const event = deployment.events.findLast((one) => one.step === step) ?? this.#event(deployment, step);
    event.payload = { error };
    event.completedAt = new Date().toISOString();
    this.#logTo(deployment)(error, "error");
    this.#status(deployment, "FAILED");
    await this.#containers.get(deployment.id)?.stop(0);
    deployment.deploymentStopped = true;
    this.#account.store.save("deployments", deployment);
  }

  #event(deployment: Deployment, step: string): Deployment["events"][number] {
    const event = { id: randomUUID(), step, createdAt: new Date().toISOString(), completedAt: null, payload: null };
    deployment.events.push(event);
    return event;
  }

  #status(deployment: Deployment, status: DeploymentStatus): void {
    deployment.status = status;
    deployment.statusUpdatedAt = new Date().toISOString();
    this.#account.store.save("deployments", deployment);
  }

  #logTo(deployment: Deployment): (line: string, severity?: string) => void {
    return (message, severity = "info") => {
      deployment.logs.push({ timestamp: new Date().toISOString(), message, severity });
      if (deployment.logs.length > MOST_LOG_LINES) deployment.logs.shift();
    };
  }

  /** Addresses of the services of the same environment by their private names. */
  #hosts({ environmentId }: Instance): Record<string, string> {
    const instances = this.#account.store.list("instances").filter((one) => one.environmentId === environmentId);
    return Object.fromEntries(
      instances.map((one) => [this.#account.privateName(this.#account.service(one.serviceId)), one.address]),
    );
  }
}
