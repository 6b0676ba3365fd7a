import * as pulumi from "@pulumi/pulumi";
import { provider } from "../dynamic.ts";

export interface JobArgs {
  /** The stack's folder for state, relative to the checkout; the log is in `logs/`. */
  readonly state: string;
  /** Unique in the stack; its log is called by it. */
  readonly name: string;
  /** Program and arguments, run in the checkout; `node` is the pinned one. Anybody on the machine can read them: no secrets. */
  readonly command: pulumi.Input<pulumi.Input<string>[]>;
  /** All of its environment beyond PATH, HOME, TZ and TMPDIR. Kept secret. @default {} */
  readonly environment?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Seconds until it must have ended. @default 300 */
  readonly timeoutSeconds?: number;
  /** TypeScript files, and folders of them, that the job runs: when they change it runs again. @default [] */
  readonly code?: string[];
  /** It runs again when one of these changes, as it does for another command or environment. @default {} */
  readonly triggers?: pulumi.Input<Record<string, pulumi.Input<string>>>;
}

const implementation = provider("providers/local/job.provider.ts");

/** A program that runs to its end and must succeed. */
export class Job extends pulumi.dynamic.Resource {
  /** When it last ended, ISO 8601: changes with every run. */
  declare readonly completedAt: pulumi.Output<string>;

  constructor(name: string, args: JobArgs, opts?: pulumi.CustomResourceOptions) {
    const { environment = {}, ...rest } = args;
    super(
      implementation,
      name,
      {
        timeoutSeconds: 300,
        code: [],
        codeDigest: undefined,
        triggers: {},
        ...rest,
        environment: pulumi.secret(environment),
        completedAt: undefined,
      },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["environment"] }),
      "local",
      "Job",
    );
  }
}
