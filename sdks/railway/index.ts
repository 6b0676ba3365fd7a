export { Environment, type EnvironmentArgs } from "./environment.ts";
export { Project, type ProjectArgs } from "./project.ts";
export { Service, type ServiceArgs, type ServiceSettings } from "./service.ts";
export { VariableCollection, type VariableCollectionArgs } from "./variableCollection.ts";
export { Volume, type BackupKind, type VolumeArgs } from "./volume.ts";
export { ServiceDomain, type ServiceDomainArgs } from "./serviceDomain.ts";
export { Deployment, type DeploymentArgs } from "./deployment.ts";
export { CustomDomain, type CustomDomainArgs, type DnsRecord } from "./customDomain.ts";
export { TcpProxy, type TcpProxyArgs } from "./tcpProxy.ts";
