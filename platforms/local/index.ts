import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import * as pulumi from "@pulumi/pulumi";
import { secretAccessKeyOf } from "../../clients/r2Keys.ts";
import type { StackConfig } from "../../config.ts";
import { IssuerDocuments } from "../../providers/issuerDocuments.ts";
import { Job } from "../../providers/local/job.ts";
import { LakekeeperRuntime } from "../../providers/local/lakekeeperRuntime.ts";
import { Ports } from "../../providers/local/ports.ts";
import { PostgresCluster } from "../../providers/local/postgresCluster.ts";
import { Process } from "../../providers/local/process.ts";
import { SampleLakehouse } from "../../providers/local/sampleLakehouse.ts";
import { after } from "../../providers/after.ts";
import { RandomSecret } from "../../providers/randomSecret.ts";
import { sampleCatalog } from "../../tools/fixtures/sample.ts";
import type { Database, Issuer, Jwks, MigrateArgs, Platform, Served, ServiceArgs, Storage } from "../platform.ts";
import { namingFullDisk } from "./disk.ts";
import { nodeCommand } from "./node.ts";

const ACCOUNT_ID = "local";
const PORT_REMEDY = "choose another with lakekeeper:ports";

/** Everything on this machine's loopback: embedded Postgres, Lakekeeper or its stand-in, and stand-ins for the rest. */
export class LocalPlatform extends pulumi.ComponentResource implements Platform {
  readonly runtime: pulumi.Output<string>;
  readonly #config: StackConfig;
  readonly #state: string;
  readonly #ports: Ports;
  readonly #lakekeeper: LakekeeperRuntime;

  constructor(config: StackConfig, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:LocalPlatform", "local", {}, opts);
    this.#config = config;
    this.#state = `.state/${pulumi.getStack()}`;
    const parent = { parent: this };
    const names = ["postgres", "r2", "issuer", "lakekeeper", "metrics"];
    this.#ports = new Ports("ports", { names, fixed: config.ports as Record<string, number> }, parent);
    const binary = config.binary || process.env["LAKEKEEPER_BIN"] || "";
    this.#lakekeeper = new LakekeeperRuntime("runtime", { binary, version: config.version }, parent);
    this.runtime = pulumi.interpolate`${this.#lakekeeper.kind} ${this.#lakekeeper.runtimeVersion}`;
    this.registerOutputs({});
  }

  /** The sample's SqlCatalog, written beside the local bucket once; from then on it may be changed like any other. */
  async sampleCatalog(): Promise<string> {
    const file = `${this.#state}/catalog.db`;
    if (!existsSync(file)) {
      const half = `${file}.${process.pid}`;
      await namingFullDisk(this.#state, async () => {
        await mkdir(this.#state, { recursive: true });
        await sampleCatalog(half);
        await rename(half, file);
      }).finally(() => rm(half, { force: true }));
    }
    return `sqlite:///${file}`;
  }

  database(name: string, opts: pulumi.ResourceOptions): Database {
    const secret = (of: string) => new RandomSecret(`${name}-${of}-password`, {}, opts).value;
    const port = this.#port("postgres");
    const rolePassword = secret("role");
    const cluster = new PostgresCluster(
      name,
      {
        state: this.#state,
        port,
        superuserPassword: secret("superuser"),
        role: "lakekeeper",
        rolePassword,
        database: "lakekeeper",
        portRemedy: PORT_REMEDY,
      },
      opts,
    );
    return {
      url: after(cluster, pulumi.interpolate`postgresql://lakekeeper:${rolePassword}@127.0.0.1:${port}/lakekeeper`),
      identity: cluster.systemIdentifier,
    };
  }

  issuer(name: string, jwks: pulumi.Input<Jwks>, opts: pulumi.ResourceOptions): Issuer {
    const port = this.#port("issuer");
    const directory = `${this.#state}/issuer`;
    const url = loopback(port);
    const documents = new IssuerDocuments(`${name}-documents`, { directory, issuer: url, jwks }, opts);
    const published = new Process(
      name,
      {
        state: this.#state,
        name: "issuer",
        command: nodeCommand("emulators/issuer/main.ts", "serve"),
        environment: { ISSUER_DIR: directory, ISSUER_PORT: pulumi.interpolate`${port}` },
        port,
        code: ["emulators/issuer"],
        portRemedy: PORT_REMEDY,
      },
      pulumi.mergeOptions(opts, { dependsOn: documents }),
    );
    return { url, providerUri: url, published };
  }

  migrate(name: string, args: MigrateArgs, opts: pulumi.ResourceOptions): pulumi.Resource {
    return new Job(
      name,
      {
        state: this.#state,
        name: "migrate",
        command: this.#command("migrate"),
        environment: args.environment,
        triggers: { version: args.version, database: args.database },
        code: ["emulators/lakekeeper/authz", "emulators/lakekeeper/store"],
      },
      opts,
    );
  }

  serve(name: string, args: ServiceArgs, opts: pulumi.ResourceOptions): Served {
    const port = this.#port("lakekeeper");
    const resource = new Process(
      name,
      {
        state: this.#state,
        name: "lakekeeper",
        command: this.#command("serve"),
        environment: pulumi.all([args.environment, port, this.#port("metrics")]).apply(([given, api, metrics]) => ({
          ...given,
          LAKEKEEPER__BIND_IP: "127.0.0.1",
          LAKEKEEPER__LISTEN_PORT: String(api),
          LAKEKEEPER__METRICS__PORT: String(metrics),
        })),
        port,
        healthPath: "/health",
        code: ["emulators/lakekeeper"],
        portRemedy: PORT_REMEDY,
      },
      opts,
    );
    return {
      uri: after(resource, loopback(port)),
      instance: pulumi.interpolate`${resource.pid} since ${resource.startTime}`,
    };
  }

  storage(name: string): Storage {
    const opts = { parent: this };
    const { bucket, keyPrefix, stsTokenValiditySeconds, sqlCatalog } = this.#config;
    const port = this.#port("r2");
    const accessKeyId = new RandomSecret(`${name}-token-id`, { length: 32 }, opts).value;
    const token = new RandomSecret(`${name}-token`, {}, opts).value;
    const secretAccessKey = token.apply(secretAccessKeyOf);

    const server = new Process(
      name,
      {
        state: this.#state,
        name: "r2",
        command: nodeCommand("emulators/r2/main.ts", "serve"),
        environment: {
          R2_EMULATOR_PORT: pulumi.interpolate`${port}`,
          R2_EMULATOR_DIR: `${this.#state}/r2`,
          R2_EMULATOR_ACCOUNT_ID: ACCOUNT_ID,
          R2_EMULATOR_TOKEN_ID: accessKeyId,
          R2_EMULATOR_TOKEN_VALUE: token,
          R2_EMULATOR_BUCKETS: bucket,
        },
        port,
        code: ["emulators/r2", "emulators/cloudflare"],
        portRemedy: PORT_REMEDY,
      },
      opts,
    );
    const endpoint = after(server, loopback(port));
    const keys = { endpoint, bucket, accessKeyId, secretAccessKey };
    const sample = sqlCatalog === "" ? [new SampleLakehouse(`${name}-sample`, keys, opts)] : [];
    return {
      profile: endpoint.apply((url) => ({ bucket, keyPrefix, region: "auto", endpoint: url, stsTokenValiditySeconds })),
      // Lakekeeper mints from R2 at Cloudflare's own address only, so here it asks the S3 server's STS.
      credential: pulumi.secret(
        pulumi
          .all([accessKeyId, secretAccessKey])
          .apply(([id, secret]) => ({ type: "access-key" as const, accessKeyId: id, secretAccessKey: secret })),
      ),
      ready: [server, ...sample],
    };
  }

  #port(name: string): pulumi.Output<number> {
    return this.#ports.ports.apply((ports) => ports[name] ?? 0);
  }

  #command(subcommand: string): pulumi.Output<string[]> {
    return this.#lakekeeper.command.apply((command) => [...command, subcommand]);
  }
}

function loopback(port: pulumi.Output<number>): pulumi.Output<string> {
  return pulumi.interpolate`http://127.0.0.1:${port}`;
}
