import { recordsOf } from "./customDomains.ts";
import { createHash } from "node:crypto";
import type { Account } from "./account.ts";
import type { Deployments } from "./deployments.ts";
import type {
  Deployment,
  Domain,
  Environment,
  Instance,
  Project,
  Service,
  TcpProxy,
  Volume,
  VolumeInstance,
} from "./model.ts";
import { environmentConfig } from "./environmentConfig.ts";
import { page, type PageArguments } from "./pages.ts";
import { referencesIn } from "./variables.ts";

const CLUSTER = "us-west2";
/** How long a project of no workspace is there. */
const TEMPORARY = 24 * 3600 * 1000;

/**
 * What is kept, as the schema's types have it; fields that lead to other objects are functions. Their return types are
 * left to be inferred: the schema says what they must be, and its execution checks it.
 */
/* eslint-disable @typescript-eslint/explicit-module-boundary-types */
export class Views {
  readonly #account: Account;
  readonly #deployments: Deployments;

  constructor(account: Account, deployments: Deployments) {
    this.#account = account;
    this.#deployments = deployments;
  }

  project = (project: Project) => ({
    ...project,
    deletedAt: isoOf(project.deletionAt),
    isTempProject: project.workspaceId === null,
    expiredAt: project.workspaceId === null ? isoOf(Date.parse(project.createdAt) + TEMPORARY) : null,
    primaryEnvironmentId: this.#account.environmentsOf(project.id)[0]?.id ?? null,
    environments: (args: PageArguments) => page(this.#account.environmentsOf(project.id), args, this.environment),
    services: (args: PageArguments) => page(this.#account.servicesOf(project.id), args, this.service),
    volumes: (args: PageArguments) => page(this.#account.volumesOf(project.id), args, (volume) => volume),
  });

  environment = (environment: Environment) => {
    const { store } = this.#account;
    const mine = <One extends { environmentId: string; visibleAt?: number }>(one: One) =>
      one.environmentId === environment.id && (one.visibleAt ?? 0) <= Date.now();
    return {
      ...environment,
      canAccess: true,
      config: () => environmentConfig(this.#account, environment),
      configEtag: () => etagOf(environmentConfig(this.#account, environment)),
      unmergedChangesCount: [environment.staged?.services, environment.staged?.volumes].flatMap((changes) =>
        Object.keys(changes ?? {}),
      ).length,
      serviceInstances: (args: PageArguments) => page(store.list("instances").filter(mine), args, this.instance),
      variables: (args: PageArguments) => page(this.#variables(environment), args, (variable) => variable),
      volumeInstances: (args: PageArguments) =>
        page(store.list("volumeInstances").filter(mine), args, this.volumeInstance),
      deployments: (args: PageArguments) =>
        page(store.list("deployments").filter(mine).reverse(), args, this.deployment),
    };
  };

  /** What somebody has set, without the values. */
  #variables(environment: Environment) {
    const { id: environmentId, createdAt, updatedAt } = environment;
    const of = (variables: Record<string, string>, serviceId: string | null, sealed: readonly string[] = []) =>
      Object.entries(variables).map(([name, value]) => ({
        ...{ id: `${serviceId ?? "shared"} ${name}`, name, serviceId, environmentId, createdAt, updatedAt },
        isSealed: sealed.includes(name),
        references: referencesIn(value),
      }));
    const instances = this.#account.store.list("instances").filter((one) => one.environmentId === environmentId);
    return [
      ...of(environment.sharedVariables, null),
      ...instances.flatMap(({ variables, serviceId, sealed }) => of(variables, serviceId, sealed)),
    ];
  }

  service = (service: Service) => ({
    ...service,
    project: () => this.project(this.#account.project(service.projectId)),
  });

  instance = (instance: Instance) => {
    const { settings } = instance;
    const deployments = this.#deployments.of(instance);
    return {
      ...instance,
      ...settings,
      serviceName: this.#account.service(instance.serviceId).name,
      builder: "RAILPACK",
      // A value of one region, which reads 1 for a service that is in several.
      numReplicas: settings.multiRegionConfig === null ? settings.numReplicas : 1,
      domains: () => this.domains(this.#account.domainsOf(instance).filter(isVisible)),
      latestDeployment: () => (deployments[0] === undefined ? null : this.deployment(deployments[0])),
      activeDeployments: () => deployments.filter(({ status }) => status === "SUCCESS").map(this.deployment),
    };
  };

  deployment = (deployment: Deployment) => {
    const [domain] = this.#account.domainsOf(deployment);
    return {
      ...deployment,
      canRedeploy: deployment.status !== "REMOVED",
      instances: [{ id: deployment.id, status: deployment.instanceStatus }],
      meta: { image: deployment.settings.source?.image, serviceManifest: { deploy: deployment.settings } },
      url: domain?.domain ?? null,
      staticUrl: domain?.domain ?? null,
    };
  };

  volumeInstance = (instance: VolumeInstance) => ({
    ...instance,
    currentSizeMB: 64,
    region: instance.region ?? CLUSTER,
    deletedAt: isoOf(instance.deletionAt),
    isPendingDeletion: instance.deletionAt !== null,
    state: instance.deletionAt !== null ? "DELETING" : instance.visibleAt > Date.now() ? "UPDATING" : "READY",
    // Not nullable in the schema, so that asking for it fails where there is none.
    service: () => (instance.serviceId === null ? null : this.service(this.#account.service(instance.serviceId))),
    volume: (): Volume => this.#account.store.get("volumes", instance.volumeId)!,
  });

  domains = (domains: Domain[]) => ({
    serviceDomains: domains.filter(({ kind }) => kind === "service").map(this.domain),
    customDomains: domains.filter(({ kind }) => kind === "custom").map(this.domain),
  });

  domain = (domain: Domain) => {
    const { traffic, ownership } = recordsOf(domain);
    return {
      ...domain,
      suffix: domain.kind === "service" ? `localhost:${domain.edgePort}` : null,
      syncStatus: isVisible(domain) ? "ACTIVE" : "CREATING",
      status: {
        verified: domain.isVerified,
        verificationDnsHost: ownership.name,
        verificationToken: ownership.value,
        certificateStatus: domain.isVerified
          ? "CERTIFICATE_STATUS_TYPE_VALID"
          : "CERTIFICATE_STATUS_TYPE_VALIDATING_OWNERSHIP",
        dnsRecords: [
          {
            fqdn: domain.domain,
            hostlabel: domain.domain.split(".")[0],
            zone: domain.domain.split(".").slice(-2).join("."),
            recordType: "DNS_RECORD_TYPE_CNAME",
            requiredValue: traffic.value,
            currentValue: domain.isVerified ? traffic.value : "",
            status: domain.isVerified ? "DNS_RECORD_STATUS_PROPAGATED" : "DNS_RECORD_STATUS_REQUIRES_UPDATE",
            purpose: "DNS_RECORD_PURPOSE_TRAFFIC_ROUTE",
          },
        ],
      },
    };
  };

  tcpProxy = (proxy: TcpProxy) => ({
    ...proxy,
    domain: "127.0.0.1",
    syncStatus: proxy.awaitsDeployment || !isVisible(proxy) ? "CREATING" : "ACTIVE",
  });
}

function isoOf(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}

function isVisible({ visibleAt }: { visibleAt: number }): boolean {
  return visibleAt <= Date.now();
}

function etagOf(config: object): string {
  return createHash("sha256").update(JSON.stringify(config)).digest("hex").slice(0, 16);
}
