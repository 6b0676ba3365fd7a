import * as pulumi from "@pulumi/pulumi";

/** A resource as the program declared it. */
export interface Declared {
  /** The last part of its type, `SigningKey`; a component's is in brackets, `<Warehouse>`. */
  readonly type: string;
  readonly name: string;
  /** Type and name of its component. */
  readonly parent: string | undefined;
  readonly inputs: Record<string, unknown>;
  readonly options: pulumi.CustomResourceOptions;
  readonly resource: pulumi.Resource;
}

/** What resources put out beyond their inputs, by the last part of their type. */
const OUTPUTS: Readonly<Record<string, Record<string, unknown>>> = {
  Ports: { ports: { postgres: 1001, r2: 1002, issuer: 1003, lakekeeper: 1004, metrics: 1005 } },
  LakekeeperRuntime: { kind: "stand-in", command: ["lakekeeper"], runtimeVersion: "0.13.3" },
  SigningKey: { privateKey: "PEM", kid: "kid-1", jwks: { keys: [] } },
  RandomSecret: { value: "random-secret" },
  Token: { token: "a.jwt.token" },
  Bootstrap: { serverId: "server" },
  Project: { defaultEnvironmentId: "environment" },
  VariableCollection: { version: "v1" },
  Volume: { volumeInstanceId: "volume-instance" },
  ServiceDomain: { domain: "web.up.railway.app" },
  CustomDomain: {
    dnsRecords: [{ type: "CNAME", name: "catalog.example.com", value: "abc.up.railway.app" }],
    verificationHost: "_railway-verify.catalog.example.com",
    verificationToken: "railway-verify=abc",
  },
  Deployment: { deploymentId: "deployment" },
  Tables: { registered: { "main.default.t000": "s3://lakehouse/t000/metadata/1.metadata.json" } },
  PostgresCluster: { systemIdentifier: "7411" },
  Process: { pid: 7, startTime: "9", url: "unused" },
  AccountToken: { value: "token-value" },
  Verification: { report: { checks: [] }, vendingVerified: true },
};

/** Runs a program against Pulumi's mocks and keeps every resource that it declares. */
export async function runMocked<Program extends object>(
  load: () => Promise<Program>,
): Promise<{ declared: Declared[]; program: Program }> {
  const declared: Declared[] = [];
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs }) => ({
        id: `${name}-id`,
        state: { ...(inputs as object), ...OUTPUTS[lastPart(type)] },
      }),
      // Cloudflare's permission groups, the only thing that is looked up.
      call: ({ inputs }) => {
        const { name } = inputs as { name: string };
        return { ...(inputs as object), results: [{ id: `id-of-${name}`, name, scopes: [] }] };
      },
    },
    "lakekeeper",
    "local",
  );
  let program: Program | undefined;
  await pulumi.runtime.runInPulumiStack(async () => {
    pulumi.runtime.registerStackTransformation(({ resource, type, name, props, opts }) => {
      const inputs = props as Record<string, unknown>;
      declared.push({ type: lastPart(type), name, parent: nameOf(opts.parent), inputs, options: opts, resource });
      return undefined;
    });
    program = await load();
    return {};
  });
  // What is still being declared would go on when the tests are over.
  await Promise.all(declared.map(({ resource }) => settle(resource.urn)));
  return { declared, program: program! };
}

/** The value of an output, and whether it is kept secret. */
export async function settle<T>(output: pulumi.Input<T>): Promise<{ value: T; secret: boolean }> {
  const known = pulumi.output(output);
  const value = await new Promise<T>((resolve) => void known.apply((result) => resolve(result as T)));
  return { value, secret: await pulumi.isSecret(known) };
}

/** Type and name of what a resource was told to wait for. */
export function dependencies({ options }: Declared): (string | undefined)[] {
  return [options.dependsOn ?? []].flat().map((resource) => nameOf(resource as pulumi.Resource));
}

function nameOf(resource: pulumi.Resource | undefined): string | undefined {
  if (resource === undefined) return undefined;
  const { __pulumiType, __name } = resource as unknown as { __pulumiType: string; __name: string };
  return `${lastPart(__pulumiType)} ${__name}`;
}

function lastPart(type: string): string {
  const last = type.slice(type.lastIndexOf(":") + 1);
  return type.includes(":index:") ? `<${last}>` : last;
}
