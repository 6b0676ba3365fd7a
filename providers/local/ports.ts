import * as pulumi from "@pulumi/pulumi";
import { provider } from "../dynamic.ts";

export interface PortsArgs {
  /** What needs a port: `["postgres", "lakekeeper"]`. */
  readonly names: string[];
  /** Ports that the operator has chosen, 1024 to 65535. The others are picked once, where they are free, and kept. @default {} */
  readonly fixed?: Record<string, number>;
}

const implementation = provider("providers/local/ports.provider.ts");

/** A loopback port for each process of the stack. */
export class Ports extends pulumi.dynamic.Resource {
  /** From the name to its port. */
  declare readonly ports: pulumi.Output<Record<string, number>>;

  constructor(name: string, args: PortsArgs, opts?: pulumi.CustomResourceOptions) {
    super(implementation, name, { fixed: {}, ...args, ports: undefined }, opts, "local", "Ports");
  }
}
