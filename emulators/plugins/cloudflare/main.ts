/** A stand-in for `pulumi-resource-cloudflare`, which the engine starts. */
import { createRequire } from "node:module";
import { servePlugin } from "../server.ts";
import { cloudflarePlugin } from "./plugin.ts";

const sdk = createRequire(import.meta.url)("@pulumi/cloudflare/package.json") as { version: string };

// A hundredth of the real plugin's three minutes, in which it tries eleven times.
await servePlugin((log) => cloudflarePlugin({ version: sdk.version, log, environment: process.env, patience: 0.01 }));
