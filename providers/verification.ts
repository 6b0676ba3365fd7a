import * as pulumi from "@pulumi/pulumi";
import type { Connection, Identity } from "../clients/token.ts";
import type { S3Access } from "../clients/s3.ts";
import { provider } from "./dynamic.ts";
import type { Report } from "./verification/report.ts";

export interface VerificationArgs {
  /** How the stack speaks to the catalog; secret. */
  readonly connection: pulumi.Input<Connection>;
  /** The token of a client, whose view is checked; secret. */
  readonly readerToken: pulumi.Input<string>;
  /** How a client calls that does so otherwise than with a token that it was given; secret. */
  readonly reader?: pulumi.Input<Identity>;
  /** How a client calls that may read and not write, where OpenFGA decides about that; secret. */
  readonly onlyReader?: pulumi.Input<Identity>;
  /** Name of the warehouse. */
  readonly warehouse: pulumi.Input<string>;
  readonly warehouseId: pulumi.Input<string>;
  /** Where the warehouse lies: `s3://bucket` or `s3://bucket/prefix`. */
  readonly location: pulumi.Input<string>;
  /** Namespaces that must be there, levels joined by dots. */
  readonly namespaces: pulumi.Input<pulumi.Input<string>[]>;
  /** A registered table, such as `main.default.t000`; when empty, one that is found in the namespaces. */
  readonly smokeTable: pulumi.Input<string>;
  /** Without any table the catalog is not ready: nothing was seen to load. */
  readonly tableRequired: pulumi.Input<boolean>;
  /** Whether vended credentials are not checked, may fail, or must work. */
  readonly vending: pulumi.Input<"off" | "auto" | "required">;
  /** Also write and delete an object beside the smoke table's own. */
  readonly writeProbe: pulumi.Input<boolean>;
  /** Keys to read the bucket with; without them the vended ones serve. Secret. */
  readonly storage?: pulumi.Input<S3Access>;
  /** Whenever one of these is another, the checks run again. */
  readonly triggers?: pulumi.Input<unknown>;
}

const implementation = provider("providers/verification.provider.ts");

/** The checks that must be green before clients are pointed at the catalog. A failed one fails the resource. */
export class Verification extends pulumi.dynamic.Resource {
  /** What was checked, when, and with what outcome. */
  declare readonly report: pulumi.Output<Report>;
  /** Credentials were vended, and they open the table and nothing else. */
  declare readonly vendingVerified: pulumi.Output<boolean>;

  constructor(name: string, args: VerificationArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      implementation,
      name,
      {
        ...args,
        connection: pulumi.secret(args.connection),
        readerToken: pulumi.secret(args.readerToken),
        ...(args.reader === undefined ? {} : { reader: pulumi.secret(args.reader) }),
        ...(args.onlyReader === undefined ? {} : { onlyReader: pulumi.secret(args.onlyReader) }),
        ...(args.storage === undefined ? {} : { storage: pulumi.secret(args.storage) }),
        report: undefined,
        vendingVerified: undefined,
      },
      pulumi.mergeOptions(opts, {
        additionalSecretOutputs: ["connection", "readerToken", "reader", "onlyReader", "storage"],
      }),
      "lakekeeper",
      "Verification",
    );
  }
}
