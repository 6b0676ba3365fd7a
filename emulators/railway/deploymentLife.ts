import { randomUUID } from "node:crypto";
import type { Account } from "./account.ts";
import { pause, unlessClosing } from "./closing.ts";
import type { Deployment, DeploymentEvent, DeploymentStatus } from "./model.ts";
import { portOf, type Network } from "./network.ts";
import type { Container, Log, Runtime } from "./runtime.ts";

/** Seconds, when the service does not say. */
const HEALTHCHECK_TIMEOUT = 300;

export interface LifeParts {
  readonly account: Account;
  readonly runtime: Runtime;
  readonly network: Network;
  /** Aborted when the emulator ends. */
  readonly closing: AbortSignal;
  volumeFolder(volumeId: string): string;
  /** The older deployments of the same service that are not removed yet. */
  before(deployment: Deployment): DeploymentLife[];
}

/** Nothing becomes of it any more. */
export function isOver({ status, deploymentStopped }: Deployment): boolean {
  return ["CRASHED", "FAILED", "REMOVED"].includes(status) || (status === "SUCCESS" && deploymentStopped);
}

/**
 * One deployment: started, watched, restarted as its policy says, and the end of the ones before it.
 *
 * INITIALIZING -> DEPLOYING -> SUCCESS once the container has started or, with a health check, answers; FAILED when it
 * does not in time or the image cannot be pulled; CRASHED when it has ended too often. One that has done its work stays
 * SUCCESS, with `deploymentStopped`. A later one makes it REMOVED.
 */
export class DeploymentLife {
  readonly #parts: LifeParts;
  readonly #deployment: Deployment;
  /** Settles with what was started last, or nothing. */
  #container: Promise<Container | undefined> = Promise.resolve(undefined);
  #removal: Promise<void> | undefined;

  constructor(parts: LifeParts, deployment: Deployment) {
    this.#parts = parts;
    this.#deployment = deployment;
  }

  /** Resolves when nothing becomes of it any more, or the emulator ends. */
  async run(): Promise<void> {
    try {
      await this.#run();
    } catch (error) {
      if (this.#parts.closing.aborted) return;
      await this.#fail("CREATE_CONTAINER", (error as Error).message);
    }
  }

  async #run(): Promise<void> {
    const deployment = this.#deployment;
    const isNew = deployment.status === "INITIALIZING";
    const hasVolume = this.#volume() !== undefined;
    if (isNew && !(await this.#preDeploy())) return;
    if (hasVolume) await this.#supersede();
    if (this.#isLost) return;
    if (hasVolume) this.#parts.network.leaveAddress(deployment);
    const container = isNew ? await this.#start() : ((await this.#find()) ?? (await this.#start()));
    if (container === undefined || this.#isLost) return;
    if (isNew) this.#status("DEPLOYING");
    const ended = this.#watch(container);
    if (deployment.status === "DEPLOYING" && !(await this.#becomesActive())) return ended;
    await this.#parts.network.openPrivate(deployment);
    if (!hasVolume) await this.#supersede();
    await ended;
  }

  /** Takes it away; its container gets the draining time of the service to end by itself. */
  remove(): Promise<void> {
    this.#removal ??= this.#remove();
    return this.#removal;
  }

  async #remove(): Promise<void> {
    const deployment = this.#deployment;
    if (deployment.status === "REMOVED") return;
    const wasOver = isOver(deployment);
    deployment.instanceStatus = "REMOVING";
    this.#status("REMOVING");
    if (!wasOver)
      await this.#end(deployment.settings.drainingSeconds ?? this.#knob("RAILWAY_DEPLOYMENT_DRAINING_SECONDS") ?? 0);
    deployment.deploymentStopped = true;
    deployment.instanceStatus = "REMOVED";
    this.#status("REMOVED");
  }

  async stop(): Promise<void> {
    this.#deployment.deploymentStopped = true;
    this.#deployment.instanceStatus = "STOPPED";
    this.#save();
    await this.#end(this.#deployment.settings.drainingSeconds ?? 0);
  }

  /** Also a container that is just being started, or that an emulator before this one has started. */
  async #end(seconds: number): Promise<void> {
    const container = (await this.#container) ?? (await this.#find());
    await container?.stop((seconds * this.#parts.account.delays.second) / 1_000);
  }

  #find(): Promise<Container | undefined> {
    // One that had ended is counted already.
    if (this.#deployment.instanceStatus === "RESTARTING") return Promise.resolve(undefined);
    return (this.#container = this.#parts.runtime.find(
      { deploymentId: this.#deployment.id, address: this.#deployment.address },
      this.#log,
    ));
  }

  /** What is done in a container of its own before the deployment. Whether it may go on. */
  async #preDeploy(): Promise<boolean> {
    const { preDeployCommand } = this.#deployment.settings;
    if (preDeployCommand === null || preDeployCommand.length === 0) return true;
    const step = "PRE_DEPLOY_COMMAND";
    const event = this.#event(step);
    const container = await this.#launch(step, {
      deploymentId: `${this.#deployment.id}-pre-deploy`,
      startCommand: preDeployCommand.join(" "),
    });
    const end = container && (await unlessClosing(container.finished, this.#parts.closing));
    if (end === undefined || this.#isLost) return false;
    if (end.exitCode !== 0) {
      await this.#fail(step, `pre-deploy command ended with exit code ${end.exitCode}`);
      return false;
    }
    this.#complete(event);
    return true;
  }

  /** A container, or nothing when that has failed the deployment. */
  async #start(): Promise<Container | undefined> {
    const event = this.#event("CREATE_CONTAINER");
    const volume = this.#volume();
    const container = await this.#launch("CREATE_CONTAINER", {
      deploymentId: this.#deployment.id,
      startCommand: this.#deployment.settings.startCommand,
      ...(volume && { volume: { mountPath: volume.mountPath, directory: this.#parts.volumeFolder(volume.volumeId) } }),
    });
    if (container === undefined || this.#isLost) return container;
    this.#deployment.instanceStatus = "RUNNING";
    this.#complete(event);
    return container;
  }

  async #launch(
    step: string,
    what: { deploymentId: string; startCommand: string | null; volume?: { mountPath: string; directory: string } },
  ): Promise<Container | undefined> {
    const { account, runtime } = this.#parts;
    const { serviceId, environmentId, settings, variables, address } = this.#deployment;
    const { startCommand, ...more } = what;
    const starting = runtime.start(
      {
        ...more,
        ...(startCommand !== null && { startCommand }),
        serviceId,
        serviceName: account.service(serviceId).name,
        image: settings.source!.image!,
        environment: variables,
        address,
        hosts: account.hosts(environmentId),
      },
      this.#log,
    );
    this.#container = starting.catch(() => undefined);
    try {
      return await starting;
    } catch (error) {
      if (!this.#isLost) await this.#fail(step, (error as Error).message);
      return undefined;
    }
  }

  /** Follows a container to its end, and starts it again as often as the policy has it. */
  async #watch(first: Container): Promise<void> {
    const deployment = this.#deployment;
    for (let container: Container | undefined = first; container !== undefined; container = await this.#start()) {
      const end = await unlessClosing(container.finished, this.#parts.closing);
      if (end === undefined || this.#isLost || deployment.deploymentStopped) return;
      if (!this.#mayRestart(end.exitCode)) {
        deployment.deploymentStopped = true;
        deployment.instanceStatus = end.exitCode === 0 ? "EXITED" : "CRASHED";
        this.#status(end.exitCode === 0 ? deployment.status : "CRASHED");
        return;
      }
      deployment.restarts += 1;
      deployment.instanceStatus = "RESTARTING";
      this.#save();
      await pause(this.#parts.account.delays.restart, this.#parts.closing);
      if (this.#isLost) return;
    }
  }

  #mayRestart(exitCode: number): boolean {
    const { restartPolicyType, restartPolicyMaxRetries } = this.#deployment.settings;
    if (restartPolicyType === "ALWAYS") return true;
    const hasFailed = restartPolicyType === "ON_FAILURE" && exitCode !== 0;
    return hasFailed && this.#deployment.restarts < restartPolicyMaxRetries;
  }

  /** SUCCESS at once or, with a health check, with its first 200; it is never checked again after that. */
  async #becomesActive(): Promise<boolean> {
    const deployment = this.#deployment;
    const { healthcheckPath, healthcheckTimeout } = deployment.settings;
    if (healthcheckPath !== null) {
      const seconds = healthcheckTimeout ?? this.#knob("RAILWAY_HEALTHCHECK_TIMEOUT_SEC") ?? HEALTHCHECK_TIMEOUT;
      const event = this.#event("HEALTHCHECK");
      const isHealthy = await this.#becomesHealthy(event, healthcheckPath, seconds);
      if (this.#isLost || isOver(deployment)) return false;
      if (!isHealthy) {
        await this.#fail("HEALTHCHECK", `no 200 at ${healthcheckPath} within ${seconds} s`);
        return false;
      }
      this.#complete(event);
    }
    this.#status("SUCCESS");
    return true;
  }

  async #becomesHealthy(event: DeploymentEvent, path: string, seconds: number): Promise<boolean> {
    const { delays } = this.#parts.account;
    for (const end = Date.now() + seconds * delays.second; Date.now() < end;) {
      event.payload = { attempt: (event.payload?.attempt ?? 0) + 1 };
      const status = await (await this.#container)?.probe(path, portOf(this.#deployment));
      if (this.#isLost || this.#deployment.deploymentStopped) return false;
      if (status === 200) return true;
      await pause(delays.probe, this.#parts.closing);
    }
    return false;
  }

  /** Takes the deployments before this one away, after the time in which both serve. */
  async #supersede(): Promise<void> {
    const older = this.#parts.before(this.#deployment);
    if (this.#deployment.status === "SUCCESS" && older.some((one) => !isOver(one.#deployment))) {
      const seconds = this.#deployment.settings.overlapSeconds ?? this.#knob("RAILWAY_DEPLOYMENT_OVERLAP_SECONDS") ?? 0;
      await pause(seconds * this.#parts.account.delays.second, this.#parts.closing);
      if (this.#parts.closing.aborted) return;
    }
    await Promise.all(older.map((one) => one.remove()));
  }

  async #fail(step: string, error: string): Promise<void> {
    const event = this.#deployment.events.findLast((one) => one.step === step) ?? this.#event(step);
    event.payload = { ...event.payload, error };
    this.#complete(event);
    this.#log(error, "error");
    this.#status("FAILED");
    await (await this.#container)?.stop(0);
    this.#deployment.deploymentStopped = true;
    this.#save();
  }

  #volume(): ReturnType<Account["volumeOf"]> {
    return this.#parts.account.volumeOf(this.#deployment);
  }

  /** A setting that a variable of the service can give as well. */
  #knob(name: string): number | undefined {
    const value = this.#deployment.variables[name];
    return value === undefined ? undefined : Number(value);
  }

  /** Not this emulator's to go on with: it is being taken away, has failed, or the emulator ends. */
  get #isLost(): boolean {
    return this.#parts.closing.aborted || ["REMOVING", "REMOVED", "FAILED"].includes(this.#deployment.status);
  }

  #event(step: string): DeploymentEvent {
    const event = { id: randomUUID(), step, createdAt: new Date().toISOString(), completedAt: null, payload: null };
    this.#deployment.events.push(event);
    return event;
  }

  #complete(event: DeploymentEvent): void {
    event.completedAt = new Date().toISOString();
    this.#save();
  }

  #status(status: DeploymentStatus): void {
    this.#deployment.status = status;
    this.#deployment.statusUpdatedAt = new Date().toISOString();
    this.#save();
  }

  #save(): void {
    this.#parts.account.store.save("deployments", this.#deployment);
  }

  readonly #log: Log = (message, severity = "info") => {
    if (this.#parts.closing.aborted) return;
    this.#parts.account.store.addLog(this.#deployment.id, { timestamp: new Date().toISOString(), message, severity });
  };
}
