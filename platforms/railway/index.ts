import * as pulumi from "@pulumi/pulumi";
import * as railway from "@pulumiverse/railway";
import { required, type StackConfig } from "../../config.ts";
import type { Protection } from "../../components/protection.ts";
import type { Database, Issuer, Jwks, MigrateArgs, Platform, Served, ServiceArgs, Storage } from "../platform.ts";
import { R2Storage } from "../../components/r2Storage.ts";
import { WorkerIssuer } from "../../components/workerIssuer.ts";
import { DeployedService, type Place } from "./deployedService.ts";
import { railwayIssuer } from "./issuer.ts";
import { railwayPostgres } from "./postgres.ts";

/** In the image, which has no shell and no PATH. */
const LAKEKEEPER = "/home/nonroot/lakekeeper";
const PORT = 8181;

/** A project on Railway with Postgres, the issuer, the migration and Lakekeeper in it, and the bucket at Cloudflare. */
export class RailwayPlatform extends pulumi.ComponentResource implements Platform {
  readonly runtime: pulumi.Output<string>;
  readonly #config: StackConfig;
  readonly #protection: Protection;
  readonly #project: railway.Project;
  readonly #place: Place;
  #volumeInstanceId: pulumi.Output<string> | undefined;

  constructor(config: StackConfig, protection: Protection, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:RailwayPlatform", "railway", {}, opts);
    this.#config = config;
    this.#protection = protection;
    const { workspaceId, projectId, deployTimeoutSeconds } = config.railway;
    // One project for each stack: services belong to all environments of a project, so two stacks cannot share one.
    this.#project = new railway.Project(
      "project",
      {
        name: `${pulumi.getProject()}-${pulumi.getStack()}`,
        ...(workspaceId !== undefined && { workspaceId }),
        ...(projectId !== undefined && { adoptId: projectId }),
      },
      { parent: this, ...protection, retainOnDelete: protection.protect === true },
    );
    this.#place = {
      projectId: this.#project.id,
      environmentId: this.#project.defaultEnvironmentId,
      timeoutSeconds: deployTimeoutSeconds,
    };
    // An emulated stack's emulator of Railway runs no images.
    const isEmulated = "LAKEKEEPER_EMULATED_SETTINGS" in process.env;
    this.runtime = pulumi.output(
      `${image(config.version)}${isEmulated ? " (on the emulators, which run the stand-in for it)" : ""}`,
    );
    this.registerOutputs({});
  }

  database(name: string, opts: pulumi.ResourceOptions): Database {
    const { postgres, postgresUrl, railway: settings } = this.#config;
    if (postgres === "external") {
      const { host } = new URL(postgresUrl);
      return { url: pulumi.secret(postgresUrl), identity: pulumi.output(host) };
    }
    const { postgresImage, region, backups } = settings;
    const database = railwayPostgres(
      name,
      { place: this.#place, image: postgresImage, region, backups },
      { ...this.#inProject(opts), retainOnDelete: opts.protect === true },
    );
    this.#volumeInstanceId = database.volumeInstanceId;
    return database;
  }

  issuer(name: string, jwks: pulumi.Input<Jwks>, opts: pulumi.ResourceOptions): Issuer {
    const { auth, r2, railway: settings } = this.#config;
    // Where the stack has a token for Cloudflare's account, its documents are there.
    if ((auth.publish ?? (r2.credentials === "managed" ? "worker" : "service")) === "worker") {
      const { workersSubdomain, workersDomain, workersUrl } = auth;
      const accountId = required(r2.accountId, "r2.accountId");
      return new WorkerIssuer(name, { accountId, workersSubdomain, workersDomain, workersUrl, jwks }, opts);
    }
    const { issuerImage } = settings;
    return railwayIssuer(name, { place: this.#place, image: issuerImage, jwks }, this.#inProject(opts));
  }

  migrate(name: string, args: MigrateArgs, opts: pulumi.ResourceOptions): pulumi.Resource {
    const { dependsOn: deployAfter, ...early } = opts;
    return new DeployedService(
      name,
      {
        place: this.#place,
        serviceName: "Migrate",
        settings: {
          sourceImage: image(args.version),
          startCommand: `${LAKEKEEPER} migrate`,
          // It is not restarted once it has succeeded; the retries are for a Postgres that is still starting.
          restartPolicyType: "ON_FAILURE",
          restartPolicyMaxRetries: 5,
          numReplicas: 1,
        },
        variables: () => args.environment,
        deployAfter,
        waitFor: "completed",
        triggers: { database: args.database },
        ...(this.#volumeInstanceId && {
          backupBefore: { volumeInstanceId: this.#volumeInstanceId, name: `before lakekeeper ${args.version}` },
        }),
      },
      this.#inProject(early),
    ).deployment;
  }

  serve(name: string, args: ServiceArgs, opts: pulumi.ResourceOptions): Served {
    const { replicas, region, customDomain } = this.#config.railway;
    const { dependsOn: deployAfter, ...early } = opts;
    const serve = new DeployedService(
      name,
      {
        place: this.#place,
        serviceName: "Lakekeeper",
        settings: {
          sourceImage: image(args.version),
          startCommand: `${LAKEKEEPER} serve`,
          healthcheckPath: "/health",
          healthcheckTimeout: 300,
          restartPolicyType: "ALWAYS",
          numReplicas: replicas,
          overlapSeconds: 10,
          drainingSeconds: 30,
          ...(region !== undefined && { region }),
        },
        publicPort: PORT,
        customDomain,
        deployAfter,
        variables: (uri) =>
          pulumi.output(args.environment).apply((environment) => ({
            ...environment,
            LAKEKEEPER__BASE_URI: uri,
            LAKEKEEPER__LISTEN_PORT: String(PORT),
            LAKEKEEPER__BIND_IP: "::",
            PORT: String(PORT),
          })),
        waitFor: "running",
      },
      this.#inProject(early),
    );
    return { uri: serve.uri, instance: serve.deployment.deploymentId };
  }

  storage(name: string): Storage {
    return new R2Storage(name, { config: this.#config, protection: this.#protection }, { parent: this });
  }

  /** With the project everything in it is gone, which takes one call and not one for each. */
  #inProject(opts: pulumi.ResourceOptions): pulumi.ResourceOptions {
    return pulumi.mergeOptions(opts, { deletedWith: this.#project });
  }
}

function image(version: string): string {
  return `quay.io/lakekeeper/catalog:v${version}`;
}
