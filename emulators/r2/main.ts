import { Faults } from "../faults.ts";
import { required, serveFromCommandLine } from "../serving.ts";
import { jurisdictions } from "./jurisdictions.ts";
import { startR2, type R2Options } from "./server.ts";

const help = `Usage: node emulators/r2/main.ts serve

An R2 account on loopback: S3 (path style, region auto) and STS AssumeRole at /; Cloudflare's API under /client/v4, for
API tokens, buckets, temporary credentials, Workers and DNS records; Workers under /-/workers/<name>; GET /-/health.
Prints {"ready":true,"port":N} when it is ready.

Environment:
  R2_EMULATOR_DIR            folder for buckets and objects (required)
  R2_EMULATOR_ACCOUNT_ID     id of the account (required)
  R2_EMULATOR_TOKEN_ID       id of the account's API token, which is the S3 access key id: 32 letters or digits (required)
  R2_EMULATOR_TOKEN_VALUE    value of that token; its SHA-256 in hex is the S3 secret access key (required)
  R2_EMULATOR_BUCKETS        buckets to create when absent, separated by commas
  R2_EMULATOR_ZONES          domains of the account, separated by commas, whose DNS records the API keeps
  R2_EMULATOR_PORT           port; 0 or absent for a free one
  R2_EMULATOR_EU_PORT        port of the endpoint for the jurisdiction eu, which has buckets of its own; absent: none
  R2_EMULATOR_EU_BUCKETS     its buckets to create when absent; so too R2_EMULATOR_FEDRAMP_PORT and _BUCKETS
  R2_EMULATOR_LOG            file for one JSON line a request, without secrets
  R2_EMULATOR_FAULT          faults, one on each line; node emulators/main.ts --help tells how they are written
  R2_EMULATOR_SIGNED_CHUNKS  1 to accept bodies signed chunk by chunk, which R2 refuses
`;

await serveFromCommandLine("R2", help, async () => {
  const { R2_EMULATOR_LOG: requestLog } = process.env;
  const r2 = await startR2({
    port: Number(process.env["R2_EMULATOR_PORT"] ?? "0"),
    directory: required("R2_EMULATOR_DIR"),
    accountId: required("R2_EMULATOR_ACCOUNT_ID"),
    tokens: [
      {
        id: required("R2_EMULATOR_TOKEN_ID"),
        value: required("R2_EMULATOR_TOKEN_VALUE"),
        permission: "admin-read-write",
      },
    ],
    buckets: listIn("R2_EMULATOR_BUCKETS"),
    zones: listIn("R2_EMULATOR_ZONES"),
    jurisdictions: jurisdictionsWithPort(),
    signedChunks: process.env["R2_EMULATOR_SIGNED_CHUNKS"] === "1",
    faults: Faults.fromLines(process.env["R2_EMULATOR_FAULT"]),
    ...(requestLog === undefined ? {} : { requestLog }),
  });
  const { port, jurisdictions: urls, zones } = r2;
  return { server: r2, ready: { port, jurisdictions: urls, zones } };
});

function jurisdictionsWithPort(): NonNullable<R2Options["jurisdictions"]> {
  const entries = jurisdictions.flatMap((name) => {
    const prefix = `R2_EMULATOR_${name.toUpperCase()}`;
    const port = process.env[`${prefix}_PORT`];
    return port === undefined ? [] : [[name, { port: Number(port), buckets: listIn(`${prefix}_BUCKETS`) }]];
  });
  return Object.fromEntries(entries) as NonNullable<R2Options["jurisdictions"]>;
}

function listIn(name: string): string[] {
  return (process.env[name] ?? "").split(",").filter((entry) => entry !== "");
}
