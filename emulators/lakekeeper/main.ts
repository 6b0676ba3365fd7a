import { enableCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";

// A catalog on a laptop should be small: without the cache every start loads a compiler for TypeScript, 28 MB that stay,
// and by default the young generation of the heap grows to more than the server ever needs.
enableCompileCache();
setFlagsFromString("--max-semi-space-size=2");
setFlagsFromString("--semi-space-growth-factor=1");

const { main } = await import("./cli.ts");
await main(process.argv.slice(2));
