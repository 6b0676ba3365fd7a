import { z } from "zod";
import { connectionSchema } from "../clients/token.ts";

const text = z.string({ error: "must be a text" }).min(1, { error: "must not be empty" });
const flag = z.boolean({ error: "must be true or false" }).optional();

function endpointProblem(endpoint: string, bucket: unknown): string | undefined {
  if (!URL.canParse(endpoint)) return undefined;
  const path = new URL(endpoint).pathname.replace(/^\/+|\/+$/g, "");
  return path === "" || path === bucket
    ? undefined
    : "must be the URL of the S3 API alone, without bucket, prefix or another path";
}

const storageProfile = z
  .object({
    bucket: z.string({ error: "must be the bucket's name" }).regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, {
      error: "must be a bucket's name: 3 to 63 lowercase letters, digits, dots and hyphens",
    }),
    keyPrefix: z
      .string({ error: "must be a text" })
      .max(895, { error: "must be shorter than 896 characters" })
      .refine((prefix) => !prefix.includes("//") && !/^s3a?n?:/.test(prefix), {
        error: 'must be a path inside the bucket, such as "warehouse"',
      })
      .optional(),
    region: text.max(128, { error: "must be at most 128 characters" }),
    endpoint: z.url({
      protocol: /^https?$/,
      error: "must be the http(s) URL of the S3 API, such as https://<account>.r2.cloudflarestorage.com",
    }),
    pathStyleAccess: flag,
    stsTokenValiditySeconds: z
      .int({ error: "must be a whole number of seconds" })
      .min(1, { error: "must be 1 to 604800 seconds" })
      .max(604_800, { error: "must be 1 to 604800 seconds" })
      .optional(),
    remoteSigningEnabled: flag,
    remoteSigningUrlStyle: z
      .enum(["auto", "path", "virtual_host"], { error: "must be auto, path or virtual_host" })
      .optional(),
    allowAlternativeProtocols: flag,
    pushS3DeleteDisabled: flag,
  })
  .superRefine((profile, context) => {
    const problem = endpointProblem(profile.endpoint, profile.bucket);
    if (problem !== undefined) context.addIssue({ code: "custom", path: ["endpoint"], message: problem });
  });

const keys = { accessKeyId: text, secretAccessKey: text };

/** What a warehouse's inputs must be; Lakekeeper itself accepts some that it cannot work with, such as a TTL of 0. */
export const warehouseSchema = z.object({
  connection: connectionSchema,
  name: text.regex(/^[^/]+$/, { error: "must be a name without a slash" }),
  storageProfile,
  storageCredential: z.discriminatedUnion(
    "type",
    [
      z.object({ type: z.literal("cloudflare-r2"), accountId: text, token: text, ...keys }),
      z.object({ type: z.literal("access-key"), ...keys }),
    ],
    { error: "must be of type cloudflare-r2 or access-key" },
  ),
  deleteProfile: z
    .discriminatedUnion(
      "type",
      [
        z.object({ type: z.literal("hard") }),
        z.object({
          type: z.literal("soft"),
          expirationSeconds: z
            .int({ error: "must be a whole number of seconds" })
            .min(1, { error: "must be 1 or more" }),
        }),
      ],
      { error: "must be of type hard or soft" },
    )
    .optional(),
  allowReplace: flag,
  protected: flag,
});
