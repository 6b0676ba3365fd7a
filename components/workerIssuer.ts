// One by one: see r2Storage.ts.
import { WorkersScript } from "@pulumi/cloudflare/workersScript.js";
import { WorkersScriptSubdomain } from "@pulumi/cloudflare/workersScriptSubdomain.js";
import * as pulumi from "@pulumi/pulumi";
import type { Issuer, Jwks } from "../platforms/platform.ts";
import { issuerDocuments } from "../providers/issuerDocuments.provider.ts";
import { PublishedIssuer } from "../providers/publishedIssuer.ts";

export interface WorkerIssuerArgs {
  readonly accountId: string;
  /** The account's name before `.workers.dev`. */
  readonly workersSubdomain: string;
  /** In place of workers.dev: where Workers are served below their names, as by an emulator. */
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
    const { accountId, workersSubdomain, workersUrl, jwks } = args;
    const scriptName = `${pulumi.getProject()}-${pulumi.getStack()}-issuer`.toLowerCase().replace(/[^a-z0-9-]/g, "-");
    const url =
      workersUrl === undefined
        ? `https://${scriptName}.${workersSubdomain}.workers.dev`
        : `${workersUrl}/${scriptName}`;
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
    const served = new WorkersScriptSubdomain(
      `${name}-subdomain`,
      { accountId, scriptName: script.scriptName, enabled: true },
      { parent: this },
    );
    this.url = pulumi.output(url);
    this.providerUri = this.url;
    this.published = new PublishedIssuer(
      `${name}-published`,
      { url, jwks },
      { parent: this, dependsOn: [script, served] },
    );
    this.registerOutputs({ url });
  }
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
