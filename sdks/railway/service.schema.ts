import { z } from "zod";

const text = z.string({ error: "must be a text" }).min(1, { error: "must not be empty; leave it out instead" });
const seconds = z.int({ error: "must be a whole number of seconds" }).min(0, { error: "must be 0 seconds or more" });
const replicas = z.int({ error: "must be a whole number" }).min(1, { error: "must be 1 or more" });
const amount = z.number({ error: "must be a number" }).positive({ error: "must be more than 0" }).optional();

/** Names of private addresses that Railway keeps for itself (seen in its CLI). */
const RESERVED = ["health", "internal", "internal-health", "railway", "up"];

/** What a service's inputs must be. The length of the name is Railway's documented limit. */
export const serviceSchema = z
  .object({
    name: text
      .max(32, { error: "must be a name of at most 32 characters" })
      .refine((name) => !RESERVED.includes(name.toLowerCase()), {
        error: "must be a name that Railway does not reserve",
      }),
    projectId: text,
    environmentId: text,
    icon: text.optional(),
    adopt: z.boolean({ error: "must be true or false" }).optional(),
    sourceImage: text.optional(),
    registryCredentials: z.object({ username: text, password: text }).optional(),
    startCommand: text.optional(),
    preDeployCommand: text.optional(),
    healthcheckPath: text.startsWith("/", { error: "must be a path that begins with /" }).optional(),
    healthcheckTimeout: seconds.optional(),
    restartPolicyType: z
      .enum(["ALWAYS", "NEVER", "ON_FAILURE"], { error: "must be ALWAYS, NEVER or ON_FAILURE" })
      .optional(),
    restartPolicyMaxRetries: z
      .int({ error: "must be a whole number" })
      .min(0, { error: "must be 0 or more" })
      .optional(),
    numReplicas: replicas.optional(),
    region: text.optional(),
    regions: z
      .array(z.object({ region: text, numReplicas: replicas }))
      .min(1, { error: "must name a region; leave it out for Railway's default" })
      .optional(),
    drainingSeconds: seconds.optional(),
    overlapSeconds: seconds.optional(),
    sleepApplication: z.boolean({ error: "must be true or false" }).optional(),
    cronSchedule: text.optional(),
    limits: z.object({ memoryGB: amount, vCPUs: amount }).optional(),
  })
  .refine(({ regions, region, numReplicas }) => !regions || (region === undefined && numReplicas === undefined), {
    path: ["regions"],
    error: "stands in place of region and numReplicas: leave those out",
  });
