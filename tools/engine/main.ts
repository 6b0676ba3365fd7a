/** `make engine`: gets the engine, if need be, and prints the folder of its programs. */
import { command } from "../command.ts";
import { findEngine } from "./engine.ts";

await command(async () => {
  process.stdout.write(`${await findEngine()}\n`);
});
