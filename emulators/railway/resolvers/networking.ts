import { requireProject } from "../access.ts";
import { hasRecords } from "../customDomains.ts";
import { Refusal, notFound } from "../errors.ts";
import type { Domain, TcpProxy } from "../model.ts";
import type { Resolvers } from "./resolvers.ts";

interface Place {
  readonly environmentId: string;
  readonly serviceId: string;
}

export const networking: Resolvers = ({ account, views, network, removal, lookup }) => {
  const { store } = account;

  function domain(id: string, kind: Domain["kind"]): Domain {
    const found = store.get("domains", id);
    if (found === undefined || found.deletedAt !== null || found.kind !== kind) throw notFound("Domain");
    return found;
  }

  async function addDomain(
    place: Place,
    kind: Domain["kind"],
    targetPort: number | null,
    name?: string,
  ): Promise<object> {
    const { projectId } = account.service(place.serviceId);
    account.instance(place.serviceId, place.environmentId);
    const born = account.born();
    const edgePort = await network.openDomain({ id: born.id, ...place });
    return views.domain(
      store.save("domains", {
        ...born,
        kind,
        projectId,
        environmentId: place.environmentId,
        serviceId: place.serviceId,
        targetPort,
        isVerified: false,
        edgePort,
        domain: name ?? `127.0.0.1:${edgePort}`,
        visibleAt: account.visibleAt(),
      }),
    );
  }

  return {
    domains({ projectId, ...place }: Place & { projectId: string }, caller) {
      requireProject(caller, projectId, place.environmentId);
      account.environmentIn(projectId, place.environmentId);
      account.service(place.serviceId);
      return views.domains(account.domainsOf(place).filter(({ visibleAt }) => visibleAt <= Date.now()));
    },

    /** Each call makes another one. */
    serviceDomainCreate({ input }: { input: Place & { targetPort?: number | null } }, caller) {
      requireProject(caller, account.service(input.serviceId).projectId, input.environmentId);
      return addDomain(input, "service", input.targetPort ?? null);
    },

    serviceDomainUpdate(
      { input }: { input: Place & { serviceDomainId: string; domain: string; targetPort?: number | null } },
      caller,
    ) {
      const found = domain(input.serviceDomainId, "service");
      requireProject(caller, found.projectId, found.environmentId);
      if (input.domain !== found.domain) {
        const isOwn = input.domain.endsWith(`.localhost:${found.edgePort}`);
        if (!isOwn || store.list("domains").some((one) => one.domain === input.domain)) {
          throw new Refusal("Domain is not available");
        }
        found.domain = input.domain;
      }
      if (input.targetPort !== undefined) found.targetPort = input.targetPort;
      store.save("domains", found);
      return true;
    },

    serviceDomainDelete({ id }: { id: string }, caller) {
      const found = domain(id, "service");
      requireProject(caller, found.projectId, found.environmentId);
      removal.domain(id);
      return true;
    },

    async customDomain({ id, projectId }: { id: string; projectId: string }, caller) {
      const found = domain(id, "custom");
      if (found.projectId !== projectId) throw notFound("Domain");
      requireProject(caller, found.projectId, found.environmentId);
      if (!found.isVerified && lookup !== undefined && (await hasRecords(found, lookup))) {
        store.save("domains", Object.assign(found, { isVerified: true }));
      }
      return views.domain(found);
    },

    customDomainAvailable({ domain: name }: { domain: string }) {
      const isTaken = store.list("domains").some((one) => one.domain === name);
      return { available: !isTaken, message: isTaken ? "Domain is already in use" : "Domain is available" };
    },

    customDomainCreate({ input }: { input: Place & { domain: string; targetPort?: number | null } }, caller) {
      requireProject(caller, account.service(input.serviceId).projectId, input.environmentId);
      if (store.list("domains").some((one) => one.domain === input.domain)) throw new Refusal("Domain already exists");
      return addDomain(input, "custom", input.targetPort ?? null, input.domain);
    },

    customDomainUpdate({ id, targetPort }: { id: string; targetPort?: number | null }, caller) {
      const found = domain(id, "custom");
      requireProject(caller, found.projectId, found.environmentId);
      found.targetPort = targetPort ?? null;
      store.save("domains", found);
      return true;
    },

    customDomainDelete({ id }: { id: string }, caller) {
      const found = domain(id, "custom");
      requireProject(caller, found.projectId, found.environmentId);
      removal.domain(id);
      return true;
    },

    tcpProxies(place: Place, caller) {
      requireProject(caller, account.service(place.serviceId).projectId, place.environmentId);
      return store
        .list("tcpProxies")
        .filter((one) => one.serviceId === place.serviceId && one.environmentId === place.environmentId)
        .filter(({ visibleAt }) => visibleAt <= Date.now())
        .map(views.tcpProxy);
    },

    /** Deprecated: a proxy made like this does nothing until the service is deployed again. */
    async tcpProxyCreate({ input }: { input: Place & { applicationPort: number } }, caller) {
      requireProject(caller, account.service(input.serviceId).projectId, input.environmentId);
      return views.tcpProxy(await network.addProxy(input, true));
    },

    tcpProxyDelete({ id }: { id: string }, caller) {
      const found: TcpProxy | undefined = store.get("tcpProxies", id);
      if (found === undefined || found.deletedAt !== null) throw notFound("TCPProxy");
      requireProject(caller, account.service(found.serviceId).projectId, found.environmentId);
      removal.tcpProxy(id);
      return true;
    },
  };
};
