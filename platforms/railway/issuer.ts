import * as pulumi from "@pulumi/pulumi";
import type { Issuer, Jwks } from "../platform.ts";
import { DeployedService, type Place } from "./deployedService.ts";

/** Its name on Railway. */
const ISSUER = "Issuer";
const PORT = "8080";
const DISCOVERY = "/.well-known/openid-configuration";
const JWKS = "/jwks.json";

/** Answers the documents in a variable by their paths. */
const PROGRAM = `
import { createServer } from "node:http";
const documents = JSON.parse(process.env.ISSUER_DOCUMENTS);
createServer(({ url }, response) => {
  const found = Object.hasOwn(documents, url);
  response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
  response.end(JSON.stringify(found ? documents[url] : { error: "not found" }));
}).listen(Number(process.env.PORT), process.env.ISSUER_BIND_IP);
process.on("SIGTERM", () => process.exit(0));
`;

export interface RailwayIssuerArgs {
  readonly place: Place;
  /** An image of Node.js. */
  readonly image: string;
  readonly jwks: pulumi.Input<Jwks>;
}

/**
 * The issuer's two documents in the private network, where only Lakekeeper reads them. Nobody else has to: clients
 * carry a token and look nothing up.
 */
export function railwayIssuer(name: string, args: RailwayIssuerArgs, opts: pulumi.ResourceOptions): Issuer {
  // A name and no address: whoever verifies a token is told apart from here where to look.
  const url = `https://issuer.${pulumi.getProject()}-${pulumi.getStack()}.invalid`;
  const documents = pulumi.output(args.jwks).apply((jwks) =>
    JSON.stringify({
      [DISCOVERY]: { issuer: url, jwks_uri: `http://\${{RAILWAY_PRIVATE_DOMAIN}}:${PORT}${JWKS}` },
      [JWKS]: jwks,
    }),
  );
  const issuer = new DeployedService(
    name,
    {
      place: args.place,
      serviceName: ISSUER,
      settings: {
        sourceImage: args.image,
        // A start command is split at blanks and meets no shell, so the program comes in a variable of Node's own.
        startCommand: "node -e 0",
        healthcheckPath: DISCOVERY,
        healthcheckTimeout: 120,
        restartPolicyType: "ALWAYS",
        numReplicas: 1,
        overlapSeconds: 5,
      },
      variables: () => ({
        NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(PROGRAM).toString("base64")}`,
        ISSUER_DOCUMENTS: documents,
        ISSUER_BIND_IP: "::",
        PORT,
      }),
      waitFor: "running",
    },
    opts,
  );
  return {
    url: pulumi.output(url),
    providerUri: pulumi.output(`http://\${{${ISSUER}.RAILWAY_PRIVATE_DOMAIN}}:${PORT}`),
    published: issuer.deployment,
  };
}
