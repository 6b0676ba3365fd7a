import * as pulumi from "@pulumi/pulumi";
import * as railway from "@pulumiverse/railway";
import { PublicDomain } from "../../components/publicDomain.ts";
import { digest } from "../../providers/digest.ts";
import { after } from "../../providers/after.ts";

/** Where services are put, and how long a deployment there may take. */
export interface Place {
  readonly projectId: pulumi.Input<string>;
  readonly environmentId: pulumi.Input<string>;
  readonly timeoutSeconds: number;
}

export interface DeployedServiceArgs {
  readonly place: Place;
  /** Its name on Railway, which is its private name and what references to its variables begin with. */
  readonly serviceName: string;
  readonly settings: Omit<railway.ServiceArgs, "name" | "projectId" | "environmentId">;
  /** May be told the public address. */
  readonly variables: (publicUri: pulumi.Output<string>) => pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** The port that a public address leads to; without one the service is private. */
  readonly publicPort?: number;
  /** In place of a domain of Railway's; its zone is at Cloudflare. */
  readonly customDomain?: { readonly domain: string; readonly zoneId: string } | undefined;
  readonly volume?: Omit<railway.VolumeArgs, "projectId" | "environmentId" | "serviceId">;
  readonly waitFor: railway.DeploymentArgs["waitFor"];
  readonly backupBefore?: railway.DeploymentArgs["backupBefore"];
  /** Whenever one of these is another, it is deployed anew; its settings, variables and volume count in any case. */
  readonly triggers?: Record<string, pulumi.Input<string>>;
  /** What must be there before it is deployed; it is created before that. */
  readonly deployAfter?: pulumi.ResourceOptions["dependsOn"];
}

/**
 * A service that runs an image: created without a source, so that nothing is deployed yet, given its volume, its address
 * and its variables, and then deployed once. Done otherwise, Railway deploys on each of these steps, Postgres without
 * its volume among them.
 */
export class DeployedService {
  readonly volume: railway.Volume | undefined;
  readonly deployment: railway.Deployment;
  /** `https://...` without a slash at the end, once it answers there; empty for a private service. */
  readonly uri: pulumi.Output<string>;

  constructor(name: string, args: DeployedServiceArgs, opts: pulumi.ResourceOptions) {
    const { place, settings, publicPort } = args;
    const { projectId, environmentId } = place;
    const service = new railway.Service(name, { ...settings, name: args.serviceName, projectId, environmentId }, opts);
    const of = { projectId, environmentId, serviceId: service.id };
    this.volume = args.volume && new railway.Volume(`${name}-volume`, { ...of, ...args.volume }, opts);

    // Variables and deployments are made again when they are lost: only what they belong to is protected.
    const replaceable = { ...opts, protect: false };
    const uri =
      publicPort === undefined
        ? pulumi.output("")
        : this.#address(name, { ...of, targetPort: publicPort }, args, replaceable);
    const variables = new railway.VariableCollection(
      `${name}-variables`,
      { ...of, variables: pulumi.secret(args.variables(uri)) },
      replaceable,
    );
    this.deployment = new railway.Deployment(
      `${name}-deployment`,
      {
        ...of,
        what: args.serviceName,
        waitFor: args.waitFor,
        timeoutSeconds: place.timeoutSeconds,
        ...(args.backupBefore && { backupBefore: args.backupBefore }),
        triggers: {
          settings: pulumi.output(settings).apply(digest),
          variables: variables.version,
          ...(this.volume && { volume: this.volume.id }),
          ...args.triggers,
        },
      },
      pulumi.mergeOptions(replaceable, args.deployAfter === undefined ? {} : { dependsOn: args.deployAfter }),
    );
    this.uri = this.once(uri);
  }

  /** A domain of one's own, or else one of Railway's. */
  #address(
    name: string,
    place: railway.ServiceDomainArgs & { targetPort: number },
    { customDomain }: DeployedServiceArgs,
    opts: pulumi.ResourceOptions,
  ): pulumi.Output<string> {
    if (customDomain !== undefined) {
      return new PublicDomain(`${name}-public-domain`, { ...place, ...customDomain }, opts).uri;
    }
    return new railway.ServiceDomain(`${name}-domain`, place, opts).domain.apply(uriOf);
  }

  /** A value that is there once the service runs. */
  once<T>(value: pulumi.Input<T>): pulumi.Output<T> {
    return after(this.deployment, value);
  }
}

/** A domain on this machine, as an emulator gives, has no certificate. */
function uriOf(domain: string): string {
  return `${/^(127\.|localhost\b)/.test(domain) ? "http" : "https"}://${domain}`;
}
