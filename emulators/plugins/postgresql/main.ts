/** A stand-in for `pulumi-resource-postgresql`, which the engine starts. */
import { createRequire } from "node:module";
import { servePlugin } from "../server.ts";
import { postgresqlPlugin } from "./plugin.ts";

const sdk = createRequire(import.meta.url)("@pulumi/postgresql/package.json") as { version: string };

await servePlugin((log) => postgresqlPlugin({ version: sdk.version, log, environment: process.env }));
