import type { Server as HttpServer } from "node:http";
import type { Server } from "node:net";
import type { Account } from "./account.ts";
import { openEdge } from "./edge.ts";
import { Refusal } from "./errors.ts";
import { forward } from "./forward.ts";
import type { Deployment, Domain, TcpProxy } from "./model.ts";

/** What a service listens on when its variables do not say. */
export const USUAL_PORT = 8080;

/** How the outside and other services reach the deployment of a service that is active. */
export class Network {
  readonly #account: Account;
  readonly #edges = new Map<string, HttpServer>();
  readonly #proxies = new Map<string, Server>();
  readonly #private = new Map<string, Server>();

  constructor(account: Account) {
    this.#account = account;
  }

  /** Opens again what was open when the emulator ended. */
  async resume(): Promise<void> {
    const { store } = this.#account;
    for (const domain of store.list("domains")) await this.openDomain(domain, domain.edgePort);
    for (const proxy of store.list("tcpProxies")) await this.openProxy(proxy, proxy.proxyPort);
  }

  /** @returns the port of the edge */
  async openDomain(domain: Pick<Domain, "id" | "serviceId" | "environmentId">, port = 0): Promise<number> {
    const edge = await openEdge(port, () => {
      const active = this.#active(domain.serviceId, domain.environmentId);
      const { targetPort = null } = this.#account.store.get("domains", domain.id) ?? {};
      return active && { address: active.address, port: targetPort ?? portOf(active) };
    });
    this.#edges.set(domain.id, edge.server);
    return edge.port;
  }

  async openProxy(
    proxy: Pick<TcpProxy, "id" | "serviceId" | "environmentId" | "applicationPort">,
    port = 0,
  ): Promise<number> {
    const server = await forward("127.0.0.1", port, () => {
      const active = this.#active(proxy.serviceId, proxy.environmentId);
      if (this.#account.store.get("tcpProxies", proxy.id)?.awaitsDeployment) return undefined;
      return active && { host: active.address, port: proxy.applicationPort };
    });
    this.#proxies.set(proxy.id, server);
    return (server.address() as { port: number }).port;
  }

  /** A service has one at most. */
  async addProxy(
    { serviceId, environmentId, applicationPort }: Pick<TcpProxy, "serviceId" | "environmentId" | "applicationPort">,
    awaitsDeployment: boolean,
  ): Promise<TcpProxy> {
    const instance = this.#account.instance(serviceId, environmentId);
    if (this.#account.proxyOf(instance) !== undefined) throw new Refusal("A service can only have one TCP proxy");
    const proxy = { ...this.#account.born(), serviceId, environmentId, applicationPort };
    const proxyPort = await this.openProxy(proxy);
    const visibleAt = this.#account.visibleAt();
    return this.#account.store.save("tcpProxies", { ...proxy, proxyPort, visibleAt, awaitsDeployment });
  }

  closePublic(id: string): void {
    close(this.#edges, id);
    close(this.#proxies, id);
  }

  /** Makes a service's private name lead to its active deployment, at the port that it says it listens on. */
  async openPrivate(deployment: Deployment): Promise<void> {
    const { serviceId, environmentId } = deployment;
    const { id, address } = this.#account.instance(serviceId, environmentId);
    const port = portOf(deployment);
    const there = this.#private.get(id)?.address();
    const isOpen = typeof there === "object" && there?.port === port;
    if (deployment.address === address || isOpen) return;
    this.closePrivate(id);
    const server = await forward(address, port, () => {
      const active = this.#active(serviceId, environmentId);
      return active && { host: active.address, port };
    });
    this.#private.set(id, server);
  }

  /** To a container that is to have the service's own address, where nobody needs to lead. */
  leaveAddress({ serviceId, environmentId }: Deployment): void {
    this.closePrivate(this.#account.instance(serviceId, environmentId).id);
  }

  closePrivate(instanceId: string): void {
    close(this.#private, instanceId);
  }

  close(): void {
    for (const servers of [this.#edges, this.#proxies, this.#private]) {
      for (const id of [...servers.keys()]) close(servers, id);
    }
  }

  #active(serviceId: string, environmentId: string): Deployment | undefined {
    return this.#account.store
      .list("deployments")
      .findLast(
        (one) => one.serviceId === serviceId && one.environmentId === environmentId && one.status === "SUCCESS",
      );
  }
}

export function portOf({ variables }: Deployment): number {
  return Number(variables["PORT"] ?? USUAL_PORT);
}

function close(servers: Map<string, Server | HttpServer>, id: string): void {
  const server = servers.get(id);
  server?.close();
  if (server !== undefined && "closeAllConnections" in server) server.closeAllConnections();
  servers.delete(id);
}
