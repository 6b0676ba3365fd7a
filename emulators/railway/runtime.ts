/** What a deployment runs. */
export interface ContainerSpec {
  readonly serviceId: string;
  readonly serviceName: string;
  readonly deploymentId: string;
  /** As in the service's source, `quay.io/lakekeeper/catalog:v0.13.3`. */
  readonly image: string;
  /** Replaces the image's entrypoint; split at blanks, no shell. */
  readonly startCommand?: string;
  /** Rendered variables, those of Railway itself included. */
  readonly environment: Readonly<Record<string, string>>;
  readonly volume?: { readonly mountPath: string; readonly directory: string };
  /** The container's own loopback address, `127.x.y.z`, the same for every container of its service. */
  readonly address: string;
  /** Addresses of the project's services by their private names, without `.railway.internal`. */
  readonly hosts: Readonly<Record<string, string>>;
}

export interface Container {
  /** Settles once all of its log has been delivered. */
  readonly finished: Promise<{ readonly exitCode: number }>;
  /** Asks it to end, and kills it when it is still there after that many seconds. Resolves when it is gone. */
  stop(drainingSeconds: number): Promise<void>;
  /** HTTP status of a GET there, or undefined when nothing answers. */
  probe(path: string, port: number): Promise<number | undefined>;
}

export type Log = (line: string, severity?: string) => void;

/** Where deployments run. Containers outlive the emulator. */
export interface Runtime {
  /** Rejects with UserError when the image cannot be pulled or the machine cannot run it. */
  start(spec: ContainerSpec, log: Log): Promise<Container>;
  /** The container of a deployment that an earlier emulator started, ended or not; undefined when it never did. */
  find(spec: Pick<ContainerSpec, "deploymentId" | "address">, log: Log): Promise<Container | undefined>;
  /** Leaves containers running, or stops them all. */
  close(options?: { readonly stop?: boolean }): Promise<void>;
}
