// One by one: all of the package takes a local stack, which uses none of it, a tenth of a second.
import { AccountToken } from "@pulumi/cloudflare/accountToken.js";
import { getAccountApiTokenPermissionGroupsListOutput } from "@pulumi/cloudflare/getAccountApiTokenPermissionGroupsList.js";
import { R2Bucket } from "@pulumi/cloudflare/r2bucket.js";
import { R2BucketLifecycle } from "@pulumi/cloudflare/r2bucketLifecycle.js";
import { R2BucketLock } from "@pulumi/cloudflare/r2bucketLock.js";
import * as pulumi from "@pulumi/pulumi";
import { secretAccessKeyOf } from "../clients/r2Keys.ts";
import { required, type StackConfig } from "../config.ts";
import type { Storage } from "../platforms/platform.ts";
import { R2Access } from "../providers/r2Access.ts";
import type { StorageCredential, StorageProfile } from "../providers/warehouse.ts";
import type { Protection } from "./protection.ts";

/** What Lakekeeper's token may do: make credentials for others, which takes every right on R2. Looked up by its name. */
const PERMISSION_GROUP = "Workers R2 Storage Write";

const SECONDS_PER_DAY = 86_400;

export interface R2StorageArgs {
  readonly config: StackConfig;
  readonly protection: Protection;
}

/**
 * The bucket at Cloudflare, and the account token that Lakekeeper reaches it with and mints vended credentials from.
 *
 * With `r2.credentials: provided` somebody else has made both. A token is never changed: another generation is another
 * token, and the one before it goes last, when nothing that was vended from it is in use any more.
 */
export class R2Storage extends pulumi.ComponentResource implements Storage {
  readonly profile: pulumi.Output<StorageProfile>;
  readonly credential: pulumi.Output<StorageCredential>;
  readonly isRotated: boolean;
  readonly ready: pulumi.Resource[];

  constructor(name: string, args: R2StorageArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:R2Storage", name, {}, opts);
    const { config } = args;
    const { r2, keyPrefix, stsTokenValiditySeconds } = config;
    const accountId = required(r2.accountId, "r2.accountId");
    this.isRotated = r2.credentials === "managed";
    const bucket = r2.bucket === "existing" ? undefined : this.#bucket(name, accountId, args);
    if (bucket !== undefined) this.#rules(name, bucket, config);
    this.credential = pulumi.secret(
      r2.credentials === "provided" ? provided(accountId, config) : this.#minted(name, accountId, config),
    );
    this.profile = pulumi.output({
      bucket: bucket?.name ?? config.bucket,
      keyPrefix,
      region: "auto",
      endpoint: r2.endpoint ?? endpointOf(accountId, r2.jurisdiction),
      stsTokenValiditySeconds,
    });
    const access = new R2Access(
      `${name}-access`,
      {
        // Its id is not known before it has been made: then a preview does not look for it.
        bucket: bucket ? pulumi.all([bucket.name, bucket.id]).apply(([known]) => known) : config.bucket,
        endpoint: this.profile.endpoint,
        jurisdiction: r2.jurisdiction,
        credential: this.credential,
      },
      { parent: this, ...(bucket && { dependsOn: bucket }) },
    );
    this.ready = [access];
    this.registerOutputs({});
  }

  #bucket(name: string, accountId: string, { config, protection }: R2StorageArgs): R2Bucket {
    const { jurisdiction, location, bucket } = config.r2;
    return new R2Bucket(
      `${name}-bucket`,
      { accountId, name: config.bucket, jurisdiction, ...(location !== undefined && { location }) },
      {
        parent: this,
        ...protection,
        // A bucket that holds tables is not this stack's to delete, whatever else is.
        protect: true,
        retainOnDelete: true,
        ...(bucket === "import" && { import: `${accountId}/${config.bucket}/${jurisdiction}` }),
      },
    );
  }

  /** No rule deletes objects: what is not used any more, the tables' own maintenance knows alone. */
  #rules(name: string, { accountId, name: bucketName, jurisdiction }: R2Bucket, { r2 }: StackConfig): void {
    const of = { accountId, bucketName, jurisdiction };
    // What Cloudflare is told stays when the stack goes, as the bucket does.
    const opts = { parent: this, retainOnDelete: true };
    if (r2.abortUploadsAfterDays !== undefined) {
      const condition = { type: "Age", maxAge: r2.abortUploadsAfterDays * SECONDS_PER_DAY };
      const abort = { id: "abort-uploads", enabled: true, conditions: { prefix: "" } };
      const rules = [{ ...abort, abortMultipartUploadsTransition: { condition } }];
      new R2BucketLifecycle(`${name}-lifecycle`, { ...of, rules }, opts);
    }
    if (r2.locks.length > 0) {
      const rules = r2.locks.map(({ prefix, days }) => ({
        id: `keep-${prefix}`,
        enabled: true,
        prefix,
        condition: { type: "Age", maxAgeSeconds: days * SECONDS_PER_DAY },
      }));
      new R2BucketLock(`${name}-lock`, { ...of, rules }, opts);
    }
  }

  #minted(name: string, accountId: string, config: StackConfig): pulumi.Output<StorageCredential> {
    const generation = generationOf(config, Date.now());
    const found = getAccountApiTokenPermissionGroupsListOutput({ accountId, name: PERMISSION_GROUP }, { parent: this });
    const token = new AccountToken(
      // Its generation is in the name, since an API token that is updated keeps its value.
      `${name}-token-${generation}`,
      {
        accountId,
        name: `${pulumi.getProject()}-${pulumi.getStack()} (lakekeeper, generation ${generation})`,
        policies: [
          {
            effect: "allow",
            permissionGroups: [{ id: found.results.apply((groups) => groupId(groups)) }],
            resources: JSON.stringify({ [`com.cloudflare.api.account.${accountId}`]: "*" }),
          },
        ],
      },
      { parent: this },
    );
    return pulumi.all([token.id, token.value]).apply(([id, value]) => ({
      type: "cloudflare-r2" as const,
      accountId,
      accessKeyId: id,
      secretAccessKey: secretAccessKeyOf(value),
      token: value,
    }));
  }
}

/**
 * What tells a token from the one before it: the generation that is asked for and, when tokens have a greatest age, the
 * first day of the span of so many days that today is in. So one is never older than that, if the stack is updated as often.
 */
function generationOf({ r2TokenGeneration, r2 }: StackConfig, now: number): string {
  if (r2.tokenMaxAgeDays === undefined) return String(r2TokenGeneration);
  const span = r2.tokenMaxAgeDays * SECONDS_PER_DAY * 1_000;
  return `${r2TokenGeneration}-${new Date(now - (now % span)).toISOString().slice(0, "2026-01-01".length)}`;
}

function groupId(groups: readonly { readonly id: string; readonly name: string }[]): string {
  const group = groups.find(({ name }) => name === PERMISSION_GROUP);
  if (group === undefined) {
    throw new pulumi.RunError(
      `Cloudflare knows no permission group "${PERMISSION_GROUP}" for this account. Check lakekeeper:r2.accountId, and that ` +
        "the token of cloudflare:apiToken may read the account's API tokens.",
    );
  }
  return group.id;
}

function provided(accountId: string, { r2Credentials }: StackConfig): StorageCredential {
  return { type: "cloudflare-r2", accountId, ...required(r2Credentials, "r2Credentials") };
}

function endpointOf(accountId: string, jurisdiction: StackConfig["r2"]["jurisdiction"]): string {
  const label = jurisdiction === "default" ? "" : `.${jurisdiction}`;
  return `https://${accountId}${label}.r2.cloudflarestorage.com`;
}
