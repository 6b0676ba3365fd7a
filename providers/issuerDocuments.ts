import * as pulumi from "@pulumi/pulumi";
import type { JWK } from "jose";
import { provider } from "./dynamic.ts";

export interface IssuerDocumentsArgs {
  /** Folder that a static server publishes; made when it is not there. Changing it replaces the resource. */
  readonly directory: pulumi.Input<string>;
  /** The issuer URL, under which the folder is reached. */
  readonly issuer: pulumi.Input<string>;
  /** Public keys to publish. */
  readonly jwks: pulumi.Input<{ keys: JWK[] }>;
}

const implementation = provider("providers/issuerDocuments.provider.ts");

/** The two documents that make a static web server an OpenID issuer, as files in a folder. */
export class IssuerDocuments extends pulumi.dynamic.Resource {
  declare readonly issuer: pulumi.Output<string>;
  /** From path below the issuer URL to text. */
  declare readonly documents: pulumi.Output<Record<string, string>>;

  constructor(name: string, args: IssuerDocumentsArgs, opts?: pulumi.CustomResourceOptions) {
    super(implementation, name, { ...args, documents: undefined }, opts, "lakekeeper", "IssuerDocuments");
  }
}
