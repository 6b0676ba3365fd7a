import * as pulumi from "@pulumi/pulumi";
import { provider } from "../dynamic.ts";

export interface ProcessArgs {
  /** The stack's folder for state, relative to the checkout: the log is in `logs/`, the record in `processes/`. */
  readonly state: string;
  /** Unique in the stack; its log and its record are called by it. Another name is another process. */
  readonly name: string;
  /** Program and arguments, run in the checkout; `node` is the pinned one. Anybody on the machine can read them: no secrets. */
  readonly command: pulumi.Input<pulumi.Input<string>[]>;
  /** All of its environment beyond PATH, HOME, TZ and TMPDIR. Kept secret. @default {} */
  readonly environment?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** The loopback port that it listens on. It is told by `environment`. */
  readonly port: pulumi.Input<number>;
  /** Answers 2xx once the process can be used. @default "/-/health" */
  readonly healthPath?: string;
  /** Seconds until it must have answered. @default 30 */
  readonly startTimeoutSeconds?: number;
  /** TypeScript files, and folders of them, that the process runs: when they change it is started again. @default [] */
  readonly code?: string[];
  /** How the operator chooses another port, for the message when it is taken: "set lakekeeper:ports". */
  readonly portRemedy?: string;
}

const implementation = provider("providers/local/process.provider.ts");

/**
 * A server process that outlives the engine. The next `up` finds it again, and starts it when it is gone, does not answer
 * or has changed.
 */
export class Process extends pulumi.dynamic.Resource {
  /** `http://127.0.0.1:<port>` */
  declare readonly url: pulumi.Output<string>;
  declare readonly pid: pulumi.Output<number>;
  /** Opaque; with the pid it names this process and no later one. */
  declare readonly startTime: pulumi.Output<string>;
  /** False when a refresh found it stopped. */
  declare readonly running: pulumi.Output<boolean>;

  constructor(name: string, args: ProcessArgs, opts?: pulumi.CustomResourceOptions) {
    const { environment = {}, ...rest } = args;
    super(
      implementation,
      name,
      {
        healthPath: "/-/health",
        startTimeoutSeconds: 30,
        code: [],
        codeDigest: undefined,
        ...rest,
        environment: pulumi.secret(environment),
        url: undefined,
        pid: undefined,
        startTime: undefined,
        running: undefined,
      },
      // Also when an operator asks for another one (`up --replace`): a port is one process's at a time.
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["environment"], deleteBeforeReplace: true }),
      "local",
      "Process",
    );
  }
}
