import type { Account } from "./account.ts";
import type { Environment, EnvironmentConfig, InstanceSettings, ServiceConfig } from "./model.ts";

const MASKED = "*****";

/** An environment as a whole, the values of its variables masked. */
export function environmentConfig(account: Account, environment: Environment): EnvironmentConfig {
  const { store } = account;
  const services: Record<string, ServiceConfig> = {};
  for (const instance of store.list("instances").filter(({ environmentId }) => environmentId === environment.id)) {
    const { source, limits, ...deploy } = instance.settings;
    const volume = account.volumeOf(instance);
    const proxies = store
      .list("tcpProxies")
      .filter((proxy) => proxy.serviceId === instance.serviceId && proxy.environmentId === environment.id);
    services[instance.serviceId] = {
      ...(source?.image != null && { source: { image: source.image } }),
      deploy: { ...deploy, limitOverride: limitOverride(limits) },
      networking: {
        serviceDomains: Object.fromEntries(
          account
            .domainsOf(instance)
            .map(({ domain, targetPort }) => [domain, targetPort === null ? {} : { port: targetPort }]),
        ),
        tcpProxies: Object.fromEntries(proxies.map(({ applicationPort }) => [String(applicationPort), {}])),
      },
      variables: Object.fromEntries(Object.keys(instance.variables).map((name) => [name, { value: MASKED }])),
      ...(volume && {
        volumeMounts: { [volume.volumeId]: { mountPath: volume.mountPath, backupSchedules: volume.schedules } },
      }),
    };
  }
  const volumes = store
    .list("volumeInstances")
    .filter((one) => one.environmentId === environment.id && one.deletionAt === null)
    .map(({ volumeId, sizeMB, region }) => [volumeId, { sizeMB, ...(region !== null && { region }) }] as const);
  return { services, volumes: Object.fromEntries(volumes) };
}

function limitOverride(limits: InstanceSettings["limits"]): NonNullable<ServiceConfig["deploy"]>["limitOverride"] {
  if (limits === null) return null;
  const { memoryGB, vCPUs } = limits;
  return { containers: { cpu: vCPUs ?? null, memoryBytes: memoryGB == null ? null : memoryGB * 1_000_000_000 } };
}
