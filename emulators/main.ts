/** `node emulators/main.ts`: starts a stand-in on loopback for a person; `--help` tells how. */
import { UserError } from "../clients/errors.ts";
import type { StandIn } from "./commands/standIn.ts";
import { faultGrammar } from "./faultRule.ts";

const help = `Usage: node emulators/main.ts <r2|issuer|lakekeeper|openfga|railway> [options]

Starts a stand-in on loopback, with random credentials that it prints, and runs until Ctrl-C.

  r2           an R2 account: S3, STS AssumeRole, and Cloudflare's API for API tokens, buckets, temporary credentials,
               Workers and DNS records
  issuer       an OpenID issuer: discovery and JWKS, with a signing key and a token
  lakekeeper   the Iceberg REST catalog, on a Postgres of its own unless it is given one
  openfga      an OpenFGA: stores, authorization models, tuples and checks by its HTTP API
  railway      a Railway account: its GraphQL API, and services that really run

Options:
  --dir FOLDER   where everything is kept, the credentials too; started there again, it is the same
                 (.state/emulators/<name>)
  --port N       port on 127.0.0.1, 0 for a free one (r2 9000, issuer 9001, lakekeeper 8181, openfga 9500,
                 railway 9400)
  --log FILE     one JSON line for each request, without secrets
  --fault RULE   misbehave, see below; can be given several times, the first rule that is due counts
  --help

  r2:
  --bucket NAME  a bucket to make when it is absent; can be given several times (lakehouse)

  --jurisdiction NAME  eu or fedramp: one more endpoint, with buckets of its own; can be given several times
  --zone DOMAIN  a domain of the account, whose DNS records the API keeps; can be given several times

  issuer:
  --subject NAME whom the printed token is for (developer)
  --rotate       make a new key that signs from now on; earlier ones stay published

  lakekeeper:
  --database URL postgresql://user:password@host:port/database instead of a Postgres in the folder
  --issuer URL   demand tokens of this issuer; without it everybody may do everything
  --r2 URL       the R2 account to ask for temporary credentials, e.g. http://127.0.0.1:9000
  --openfga URL  the OpenFGA that keeps permissions and decides by them; without it everybody may do everything
  --openfga-key KEY  its preshared key

${faultGrammar}`;

const standIns: Record<string, () => Promise<StandIn>> = {
  r2: async () => (await import("./commands/r2.ts")).r2,
  issuer: async () => (await import("./commands/issuer.ts")).issuer,
  lakekeeper: async () => (await import("./commands/lakekeeper.ts")).lakekeeper,
  openfga: async () => (await import("./commands/openfga.ts")).openfga,
  railway: async () => (await import("./commands/railway.ts")).railway,
};

async function main([name = "", ...args]: string[]): Promise<void> {
  if ([name, ...args].includes("--help")) {
    process.stdout.write(help);
    return;
  }
  const load = Object.hasOwn(standIns, name) ? standIns[name] : undefined;
  if (load === undefined) {
    const given = name === "" ? "No stand-in is named" : `There is no stand-in ${JSON.stringify(name)}`;
    throw new UserError(`${given}: it is one of ${Object.keys(standIns).join(", ")}. See --help.`);
  }
  const running = await (await load()).start(args);
  process.stdout.write(`${running.text}\nCtrl-C stops it.\n`);
  await new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, resolve);
  });
  await running.close();
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  const message = error instanceof UserError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`error: ${message}\n`);
  process.exitCode = 1;
});
