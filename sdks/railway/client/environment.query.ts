import { z } from "zod";
import type { Operation } from "./client.ts";
import { connection } from "./pages.ts";

const text = z.string().nullish();
const number = z.number().nullish();

const deployment = z.object({
  id: z.string(),
  status: z.string(),
  createdAt: z.string(),
  deploymentStopped: z.boolean(),
  url: text,
  staticUrl: text,
});
const domain = { id: z.string(), domain: z.string(), targetPort: number, deletedAt: text, syncStatus: z.string() };

const instance = z.object({
  id: z.string(),
  serviceId: z.string(),
  serviceName: z.string(),
  deletedAt: text,
  source: z.object({ image: text, repo: text }).nullish(),
  startCommand: text,
  /** A text or a list of texts. */
  preDeployCommand: z.unknown().optional(),
  healthcheckPath: text,
  /** Seconds. */
  healthcheckTimeout: number,
  restartPolicyType: z.string(),
  restartPolicyMaxRetries: z.number(),
  /** Of one region: 1 for a service with several. */
  numReplicas: number,
  region: text,
  drainingSeconds: number,
  overlapSeconds: number,
  sleepApplication: z.boolean().nullish(),
  cronSchedule: text,
  domains: z.object({
    serviceDomains: z.array(z.object({ ...domain, suffix: text })),
    customDomains: z.array(z.object(domain)),
  }),
  latestDeployment: deployment.nullish(),
  activeDeployments: z.array(deployment),
});

const volumeInstance = z.object({
  id: z.string(),
  volumeId: z.string(),
  serviceId: text,
  mountPath: z.string(),
  region: text,
  state: text,
  sizeMB: z.number(),
  deletedAt: text,
  isPendingDeletion: z.boolean(),
  volume: z.object({ id: z.string(), name: z.string() }),
});

const serviceConfig = z.looseObject({
  deploy: z
    .looseObject({
      multiRegionConfig: z.record(z.string(), z.looseObject({ numReplicas: number }).nullable()).nullish(),
      limitOverride: z
        .looseObject({ containers: z.looseObject({ cpu: number, memoryBytes: number }).nullish() })
        .nullish(),
    })
    .nullish(),
  volumeMounts: z
    .record(z.string(), z.looseObject({ mountPath: text, backupSchedules: z.array(z.string()).nullish() }).nullable())
    .nullish(),
});

const page = z.object({
  project: z.object({
    deletedAt: text,
    services: connection(z.object({ id: z.string(), name: z.string(), icon: text, deletedAt: text })),
  }),
  environment: z.object({
    id: z.string(),
    name: z.string(),
    deletedAt: text,
    unmergedChangesCount: number,
    config: z.looseObject({
      services: z.record(z.string(), serviceConfig.nullable()).nullish(),
      volumes: z.record(z.string(), z.looseObject({}).nullable()).nullish(),
    }),
    serviceInstances: connection(instance),
    volumeInstances: connection(volumeInstance),
  }),
});

export type EnvironmentPage = z.infer<typeof page>;
export type Instance = z.infer<typeof instance>;
export type VolumeInstance = z.infer<typeof volumeInstance>;

// `VolumeInstance.service` is left out: its type is not nullable, and a detached volume has none.
export const environmentQuery: Operation<EnvironmentPage> = {
  document: `query environment(
    $projectId: String!, $environmentId: String!, $first: Int!, $services: String, $instances: String, $volumes: String
  ) {
    project(id: $projectId) {
      deletedAt
      services(first: $first, after: $services) {
        edges { node { id name icon deletedAt } }
        pageInfo { hasNextPage endCursor }
      }
    }
    environment(id: $environmentId, projectId: $projectId) {
      id name deletedAt unmergedChangesCount
      config(decryptVariables: false)
      serviceInstances(first: $first, after: $instances) {
        edges { node {
          id serviceId serviceName deletedAt
          source { image repo }
          startCommand preDeployCommand healthcheckPath healthcheckTimeout
          restartPolicyType restartPolicyMaxRetries numReplicas region
          drainingSeconds overlapSeconds sleepApplication cronSchedule
          domains {
            serviceDomains { id domain suffix targetPort deletedAt syncStatus }
            customDomains { id domain targetPort deletedAt syncStatus }
          }
          latestDeployment { ...deployment }
          activeDeployments { ...deployment }
        } }
        pageInfo { hasNextPage endCursor }
      }
      volumeInstances(first: $first, after: $volumes) {
        edges { node {
          id volumeId serviceId mountPath region state sizeMB deletedAt isPendingDeletion
          volume { id name }
        } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
  fragment deployment on Deployment { id status createdAt deploymentStopped url staticUrl }`,
  data: page,
};
