import { IcebergCatalog } from "../../clients/iceberg.ts";
import { withCatalog, Lakekeeper } from "../../clients/lakekeeper.ts";
import { S3Client } from "../../clients/s3.ts";
import type { Connection } from "../../clients/token.ts";
import {
  checkAnonymous,
  checkClientManaged,
  checkConfig,
  checkHealth,
  checkMetadata,
  checkNamespaces,
  checkTable,
  loadSmokeTable,
  readFile,
} from "./catalog.ts";
import { checkMayWrite, checkOnlyReads } from "./permissions.ts";
import type { VerificationInputs } from "./inputs.ts";
import { Checks, need, Skip, type Check, type Report } from "./report.ts";
import { checkDataFile, checkOutside, checkVended, checkWrites } from "./vending.ts";

/**
 * The runbook's F4: looks at a running catalog as its clients see it. Never throws for what it finds; the report tells.
 * Writes nothing unless `writeProbe` is set.
 */
export async function runVerification(inputs: VerificationInputs): Promise<Report> {
  const { connection, readerToken } = inputs;
  const client = inputs.reader ?? ({ kind: "token", token: readerToken } as const);
  const as = (identity: Connection["identity"]) => ({ uri: connection.uri, identity });
  return withCatalog(as({ kind: "none" }), (anonymous) =>
    withCatalog(as(client), (reader) =>
      withCatalog(connection, async (deployer) => {
        const verifiedAt = new Date().toISOString();
        const checks = new Checks();
        if (inputs.onlyReader?.kind === "token") checks.hide(inputs.onlyReader.token);
        checks.hide(readerToken, inputs.storage?.secretAccessKey ?? "");

        const health = await checks.run("health", () => checkHealth(connection.uri));
        await checks.run("no access without a token", async () => {
          need(health);
          return checkAnonymous(anonymous, inputs);
        });
        const config = await checks.run("config with the token", async () => {
          need(health);
          return checkConfig(reader, inputs);
        });
        await checks.run("namespaces", async () => checkNamespaces(need(config), inputs.namespaces));
        const table = await checks.run("table loads", async () => checkTable(need(config), inputs));
        await checks.run("no keys for a client with its own", async () => checkClientManaged(need(table)));
        if (inputs.onlyReader !== undefined) {
          await checks.run("the ml-runner may write", async () => checkMayWrite(need(config), need(table)));
          const karma = as(inputs.onlyReader);
          await checks.run("Karma may read, not write", async () => {
            const { identifier } = need(table);
            return withCatalog(karma, (http) =>
              checkOnlyReads(new IcebergCatalog(http, inputs.warehouseId), identifier),
            );
          });
        }

        const vendingFrom = checks.results.length;
        const vended = await checks.run("vended credentials", async () => {
          if (inputs.vending === "off") throw new Skip("vending is off");
          const { identifier } = need(table);
          const warehouse = await new Lakekeeper(deployer).warehouse(inputs.warehouseId);
          const validity = warehouse?.["storage-profile"]["sts-token-validity-seconds"] ?? 3600;
          return checkVended(await loadSmokeTable(need(config), identifier, "vended-credentials"), validity, checks);
        });
        const reads = await checks.run("vended: metadata file", async () => {
          const location = need(table)["metadata-location"];
          const { length } = await readFile(need(vended).s3, location);
          return { seen: `${length} bytes of ${location}`, found: true };
        });
        await checks.run("vended: data file", async () => checkDataFile(need(vended), need(table)));
        // Keys that open nothing are refused everywhere, which would prove nothing.
        await checks.run("vended: refused outside the table", async () => {
          need(reads);
          return checkOutside(need(vended));
        });
        await checks.run("vended: writes", async () => {
          if (!inputs.writeProbe) throw new Skip("verification.writeProbe is off");
          need(reads);
          return checkWrites(need(vended));
        });
        const vendingChecks = checks.results.slice(vendingFrom);

        await checks.run("metadata as in the bucket", async () => {
          const loaded = need(table);
          const s3 = inputs.storage === undefined ? need(vended).s3 : new S3Client(inputs.storage);
          return checkMetadata(loaded, s3);
        });
        return { verifiedAt, ...conclude(inputs, checks.results, vendingChecks) };
      }),
    ),
  );
}

function conclude(
  { vending }: VerificationInputs,
  checks: Check[],
  vendingChecks: Check[],
): Omit<Report, "verifiedAt"> {
  const [credentials] = vendingChecks;
  const vendingVerified =
    credentials?.outcome === "passed" && vendingChecks.every(({ outcome }) => outcome !== "failed");
  const mustPass = vending === "required" ? checks : checks.filter((check) => !vendingChecks.includes(check));
  const fatal = mustPass.filter(({ outcome }) => outcome === "failed").map(({ check, seen }) => `${check}: ${seen}`);
  if (vending === "required" && !vendingVerified && fatal.length === 0) {
    fatal.push(`vending is required, but nothing was vended: ${credentials?.seen}`);
  }
  return { checks, vendingVerified, fatal };
}
