/** A stand-in for `pulumi-resource-command`, which the engine starts. */
import { createRequire } from "node:module";
import { servePlugin } from "../server.ts";
import { commandPlugin } from "./plugin.ts";

const sdk = createRequire(import.meta.url)("@pulumi/command/package.json") as { version: string };

await servePlugin((log) => commandPlugin({ version: sdk.version, log }));
