import type { Account } from "./account.ts";
import type { Instance } from "./model.ts";

/** References are followed this deep, so that one to itself ends. */
const DEEPEST = 10;
const REFERENCE = /\$\{\{\s*(?:([^{}.]+)\.)?([A-Za-z0-9_]+)\s*\}\}/g;

/** The variables that Railway itself gives to a service. */
export function systemVariables(account: Account, instance: Instance): Record<string, string> {
  const { store } = account;
  const service = store.get("services", instance.serviceId)!;
  const environment = store.get("environments", instance.environmentId)!;
  const project = store.get("projects", service.projectId)!;
  const volume = account.volumeOf(instance);
  const domains = account.domainsOf(instance);
  const domain = domains.find(({ kind }) => kind === "service") ?? domains[0];
  const proxy = store
    .list("tcpProxies")
    .find(({ serviceId, environmentId }) => serviceId === service.id && environmentId === environment.id);
  return {
    RAILWAY_PROJECT_ID: project.id,
    RAILWAY_PROJECT_NAME: project.name,
    RAILWAY_ENVIRONMENT: environment.name,
    RAILWAY_ENVIRONMENT_ID: environment.id,
    RAILWAY_ENVIRONMENT_NAME: environment.name,
    RAILWAY_SERVICE_ID: service.id,
    RAILWAY_SERVICE_NAME: service.name,
    RAILWAY_PRIVATE_DOMAIN: `${account.privateName(service)}.railway.internal`,
    ...(domain && { RAILWAY_PUBLIC_DOMAIN: domain.domain }),
    ...(volume && {
      RAILWAY_VOLUME_ID: volume.volumeId,
      RAILWAY_VOLUME_NAME: store.get("volumes", volume.volumeId)!.name,
      RAILWAY_VOLUME_MOUNT_PATH: volume.mountPath,
    }),
    ...(proxy && { RAILWAY_TCP_PROXY_DOMAIN: "127.0.0.1", RAILWAY_TCP_PROXY_PORT: String(proxy.proxyPort) }),
  };
}

/** Own and system variables with every `${{Service.NAME}}`, `${{shared.NAME}}` and `${{NAME}}` replaced. */
export function rendered(account: Account, instance: Instance): Record<string, string> {
  const variables = { ...instance.variables, ...systemVariables(account, instance) };
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, render(account, instance, value, DEEPEST)]),
  );
}

/** The references in a value, `Postgres.PGHOST`. */
export function referencesIn(value: string): string[] {
  return [...value.matchAll(REFERENCE)].map(([, of, name]) => (of === undefined ? name! : `${of.trim()}.${name}`));
}

/** What a reference leads nowhere to is empty. */
function render(account: Account, instance: Instance, text: string, depth: number): string {
  if (depth === 0) return "";
  return text.replace(REFERENCE, (_, of: string | undefined, name: string) => {
    if (of?.trim() === "shared") {
      return account.store.get("environments", instance.environmentId)!.sharedVariables[name] ?? "";
    }
    const from = of === undefined ? instance : account.instanceNamed(of.trim(), instance.environmentId);
    if (from === undefined) return "";
    const value = systemVariables(account, from)[name] ?? from.variables[name] ?? "";
    return render(account, from, value, depth - 1);
  });
}
