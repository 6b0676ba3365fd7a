/** What a Railway account holds, as it is kept. Times are ISO 8601. */

interface Kept {
  readonly id: string;
  readonly createdAt: string;
  updatedAt: string;
  deletedAt: string | null;
}

export interface Project extends Kept {
  name: string;
  description: string | null;
  isPublic: boolean;
  prDeploys: boolean;
  workspaceId: string | null;
  /** Milliseconds since 1970 at which it will be gone, once somebody has scheduled that. */
  deletionAt: number | null;
}

export interface Environment extends Kept {
  readonly projectId: string;
  name: string;
  isEphemeral: boolean;
  /** A copy of another one: what is done to the others is not done to it. */
  readonly isFork: boolean;
  sharedVariables: Record<string, string>;
  /** Changes that a person has prepared and not applied. */
  staged: EnvironmentConfig | null;
}

export interface Service extends Kept {
  readonly projectId: string;
  name: string;
  icon: string | null;
}

/** A service in an environment. */
export interface Instance extends Kept {
  readonly serviceId: string;
  readonly environmentId: string;
  /** Milliseconds since 1970 from when on reads show it. */
  readonly visibleAt: number;
  settings: InstanceSettings;
  variables: Record<string, string>;
  /** Names of variables that nobody is told again. */
  sealed: string[];
  /** Loopback address that stands for its private name. */
  readonly address: string;
}

export interface InstanceSettings {
  source: { image?: string | null; repo?: string | null } | null;
  startCommand: string | null;
  preDeployCommand: string[] | null;
  healthcheckPath: string | null;
  healthcheckTimeout: number | null;
  restartPolicyType: "ALWAYS" | "NEVER" | "ON_FAILURE";
  restartPolicyMaxRetries: number;
  numReplicas: number | null;
  multiRegionConfig: Record<string, { numReplicas: number } | null> | null;
  region: string | null;
  drainingSeconds: number | null;
  overlapSeconds: number | null;
  sleepApplication: boolean | null;
  cronSchedule: string | null;
  limits: { memoryGB?: number | null; vCPUs?: number | null } | null;
}

export interface Volume extends Kept {
  readonly projectId: string;
  name: string;
}

export interface VolumeInstance extends Kept {
  readonly volumeId: string;
  readonly environmentId: string;
  readonly visibleAt: number;
  serviceId: string | null;
  mountPath: string;
  region: string | null;
  sizeMB: number;
  /** Milliseconds since 1970 at which it will be gone, once somebody has deleted it. */
  deletionAt: number | null;
  schedules: BackupKind[];
  backups: Backup[];
}

export type BackupKind = "DAILY" | "WEEKLY" | "MONTHLY";

export interface Backup {
  readonly id: string;
  readonly name: string | null;
  readonly createdAt: string;
  /** Milliseconds since 1970 from when on it is listed. */
  readonly doneAt: number;
}

export interface Domain extends Kept {
  readonly kind: "service" | "custom";
  readonly projectId: string;
  readonly environmentId: string;
  readonly serviceId: string;
  readonly visibleAt: number;
  domain: string;
  targetPort: number | null;
  /** Whether the DNS records of a custom domain are there. */
  isVerified: boolean;
  /** Port of the edge on loopback. */
  readonly edgePort: number;
}

export interface TcpProxy extends Kept {
  readonly environmentId: string;
  readonly serviceId: string;
  readonly applicationPort: number;
  readonly proxyPort: number;
  visibleAt: number;
  /** Made the deprecated way: it leads nowhere until the service is deployed again. */
  awaitsDeployment: boolean;
}

export type DeploymentStatus =
  "BUILDING" | "CRASHED" | "DEPLOYING" | "FAILED" | "INITIALIZING" | "REMOVED" | "REMOVING" | "SUCCESS";

export interface Deployment extends Kept {
  readonly projectId: string;
  readonly environmentId: string;
  readonly serviceId: string;
  /** What it runs, as the service was when it was deployed. */
  readonly settings: InstanceSettings;
  readonly variables: Record<string, string>;
  /** The container's own loopback address. */
  readonly address: string;
  status: DeploymentStatus;
  statusUpdatedAt: string;
  deploymentStopped: boolean;
  instanceStatus: "CRASHED" | "EXITED" | "INITIALIZING" | "REMOVED" | "REMOVING" | "RESTARTING" | "RUNNING" | "STOPPED";
  restarts: number;
  events: DeploymentEvent[];
}

export interface DeploymentEvent {
  readonly id: string;
  readonly step: string;
  readonly createdAt: string;
  completedAt: string | null;
  payload: { error?: string; reason?: string; attempt?: number } | null;
}

export interface LogLine {
  readonly timestamp: string;
  readonly message: string;
  readonly severity: string;
}

/** A backup under way. */
export interface Workflow extends Kept {
  readonly visibleAt: number;
  readonly doneAt: number;
  readonly error: string | null;
}

/** The part of Railway's description of an environment that a patch may change here. */
export interface EnvironmentConfig {
  services?: Record<string, ServiceConfig | null>;
  volumes?: Record<string, { sizeMB?: number; region?: string; allowOnlineResize?: boolean } | null>;
}

export interface ServiceConfig {
  source?: { image?: string };
  deploy?: Partial<Omit<InstanceSettings, "source" | "limits">> & {
    limitOverride?: { containers?: { cpu?: number | null; memoryBytes?: number | null } } | null | undefined;
  };
  networking?: {
    tcpProxies?: Record<string, object | null>;
    serviceDomains?: Record<string, { port?: number } | null>;
  };
  variables?: Record<string, { value?: string; isSealed?: boolean } | null>;
  volumeMounts?: Record<string, { mountPath?: string; backupSchedules?: BackupKind[] } | null>;
}

/** A token for one environment of one project. */
export interface ProjectToken extends Kept {
  readonly name: string;
  readonly value: string;
  readonly projectId: string;
  readonly environmentId: string;
}

/** Everything that an account holds, by kind. */
export interface Kinds {
  projects: Project;
  environments: Environment;
  services: Service;
  instances: Instance;
  volumes: Volume;
  volumeInstances: VolumeInstance;
  domains: Domain;
  tcpProxies: TcpProxy;
  deployments: Deployment;
  workflows: Workflow;
  projectTokens: ProjectToken;
}
