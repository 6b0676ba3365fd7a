import { aliased, maybe, type Shaped, string, struct, tagged } from "../http/shape.ts";

const s3Credential = tagged("credential-type", {
  "access-key": struct("S3AccessKeyCredential", {
    "access-key-id": aliased(string, "aws-access-key-id"),
    "secret-access-key": aliased(string, "aws-secret-access-key"),
    "external-id": maybe(string),
  }),
  "cloudflare-r2": struct("S3CloudflareR2Credential", {
    "access-key-id": string,
    "secret-access-key": string,
    token: string,
    "account-id": string,
  }),
});

/** What the storage accepts the catalog with. Never part of an answer. */
export const storageCredential = tagged("type", { s3: s3Credential });
export type StorageCredential = Shaped<typeof storageCredential>;
