// One by one: see r2Storage.ts.
import { WorkersCustomDomain } from "@pulumi/cloudflare/workersCustomDomain.js";
import { WorkersScript } from "@pulumi/cloudflare/workersScript.js";
import { WorkersScriptSubdomain } from "@pulumi/cloudflare/workersScriptSubdomain.js";
import * as pulumi from "@pulumi/pulumi";
import { required } from "../config.ts";
import type { Issuer, Jwks } from "../platforms/platform.ts";
import { issuerDocuments } from "../providers/issuerDocuments.provider.ts";
import { PublishedIssuer } from "../providers/publishedIssuer.ts";

export interface WorkerIssuerArgs {
  readonly accountId: string;
  /** The account's name before `.workers.dev`. */
  readonly workersSubdomain?: string | undefined;
  /** In place of workers.dev: a host name in a zone of the account. */
  readonly workersDomain?: { readonly hostname: string; readonly zoneId: string } | undefined;
  /** In place of both: where Workers are served below their names, as by an emulator. */
  readonly workersUrl?: string | undefined;
  readonly jwks: pulumi.Input<Jwks>;
}

const COMPATIBILITY_DATE = "2025-09-01";

/**
 * The issuer's two documents on a Cloudflare Worker of their own: a public address with a certificate that does not
 * depend on where Lakekeeper runs, so that it is there before every start of it. The script holds the documents.
 */
export class WorkerIssuer extends pulumi.ComponentResource implements Issuer {
  readonly url: pulumi.Output<string>;
  readonly providerUri: pulumi.Output<string>;
  readonly published: pulumi.Resource;

  constructor(name: string, args: WorkerIssuerArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:WorkerIssuer", name, {}, opts);
    const { accountId, jwks } = args;
    const scriptName = `${pulumi.getProject()}-${pulumi.getStack()}-issuer`.toLowerCase().replace(/[^a-z0-9-]/g, "-");
    const url = addressOf(scriptName, args);
    const script = new WorkersScript(
      name,
      {
        accountId,
        scriptName,
        mainModule: "issuer.mjs",
        content: pulumi.output(jwks).apply((keys) => program(issuerDocuments(url, `${url}/jwks.json`, keys))),
        compatibilityDate: COMPATIBILITY_DATE,
        observability: { enabled: false },
      },
      { parent: this },
    );
    const served = this.#served(name, script, args);
    this.url = pulumi.output(url);
    this.providerUri = this.url;
    this.published = new PublishedIssuer(
      `${name}-published`,
      { url, jwks },
      { parent: this, dependsOn: [script, served] },
    );
    this.registerOutputs({ url });
  }

  #served(
    name: string,
    { scriptName }: WorkersScript,
    { accountId, workersDomain }: WorkerIssuerArgs,
  ): pulumi.Resource {
    if (workersDomain === undefined) {
      return new WorkersScriptSubdomain(
        `${name}-subdomain`,
        { accountId, scriptName, enabled: true },
        { parent: this },
      );
    }
    return new WorkersCustomDomain(
      `${name}-domain`,
      { accountId, service: scriptName, ...workersDomain },
      // Attached to another host name, it would leave the one before with the Worker.
      { parent: this, replaceOnChanges: ["hostname", "zoneId"] },
    );
  }
}

function addressOf(scriptName: string, { workersSubdomain, workersDomain, workersUrl }: WorkerIssuerArgs): string {
  if (workersUrl !== undefined) return `${workersUrl}/${scriptName}`;
  if (workersDomain !== undefined) return `https://${workersDomain.hostname}`;
  return `https://${scriptName}.${required(workersSubdomain, "auth.workersSubdomain")}.workers.dev`;
}

/** Answers GET with the document of that path. */
function program(documents: Record<string, string>): string {
  const byPath = Object.fromEntries(Object.entries(documents).map(([path, text]) => [`/${path}`, text]));
  return `const documents = ${JSON.stringify(byPath, null, 2)};
export default {
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (!Object.hasOwn(documents, pathname)) return new Response("not found\\n", { status: 404 });
    if (!["GET", "HEAD"].includes(request.method)) return new Response("not allowed\\n", { status: 405 });
    return new Response(documents[pathname], { headers: { "content-type": "application/json" } });
  },
};
`;
}
