import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Checkout } from "../../tests/support/checkout.ts";
import tables, { type TablesInputs, type TablesOutputs } from "../../providers/tables.provider.ts";
import { variables } from "../environment.ts";
import { pythonWithPackages } from "../python.ts";
import { run } from "../run.ts";
import { withLatency } from "./latency.ts";
import { median, seconds, type Measure } from "./measure.ts";
import { inputsOf } from "../stackState.ts";

const rounds = 5;

/** One way, between two data centres of a region or from an office to a near one. */
const latencyMilliseconds = 5;

/**
 * The tables of the stack registered by our provider and, in turns, by PyIceberg one after the other. The promise is about
 * a catalog behind a network, as a deployed one is. On loopback both wait for nothing but the same server's processor, so
 * that less is to be won by doing several things at once; that is told as well.
 */
export const registration: Measure = {
  name: "registration",
  target: "with the latency, at least 4x faster than PyIceberg's register_table loop",
  async run(checkout) {
    const exported = await checkout.engine("stack", "export", "--show-secrets");
    const inputs = inputsOf("Tables", exported) as TablesInputs | undefined;
    if (inputs === undefined) return { seen: "the stack has no tables", kept: false };
    const compare = await comparison(checkout, inputs);
    const { uri } = inputs.connection;
    const behindNetwork = await withLatency(uri, latencyMilliseconds, compare);
    const onLoopback = await compare(uri);
    return {
      seen: `${behindNetwork.text} with ${latencyMilliseconds} ms of latency each way for both, and ${onLoopback.text} on loopback`,
      kept: behindNetwork.ratio >= 4,
    };
  },
};

interface Compared {
  /** How many times as long PyIceberg took. */
  readonly ratio: number;
  readonly text: string;
}

/** @returns what compares the two on a catalog whose address, without `/catalog`, it is given */
async function comparison(checkout: Checkout, inputs: TablesInputs): Promise<(uri: string) => Promise<Compared>> {
  const withPyIceberg = await pyIcebergLoop(checkout, inputs, await checkout.outputs());
  const count = Object.keys(inputs.tables).length;
  return async (uri) => {
    const there = { ...inputs, connection: { ...inputs.connection, uri } };
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await unregister(inputs);
      theirs.push(await withPyIceberg(uri));
      await unregister(inputs);
      ours.push(await seconds(() => tables.create(there)));
    }
    const ratio = median(theirs) / median(ours);
    return {
      ratio,
      text: `${ratio.toFixed(1)}x (${count} tables in ${median(ours).toFixed(2)} s and ${median(theirs).toFixed(2)} s)`,
    };
  };
}

async function unregister(inputs: TablesInputs): Promise<void> {
  const registered: TablesOutputs = { ...inputs, registered: inputs.tables, tableUuids: {} };
  await tables.delete("tables", registered);
}

/** @returns what runs the loop once at a catalog's address and resolves to the seconds that its register calls took. */
async function pyIcebergLoop(
  checkout: Checkout,
  { tables: pointers }: TablesInputs,
  outputs: Readonly<Record<string, unknown>>,
): Promise<(uri: string) => Promise<number>> {
  const python = await pythonWithPackages();
  const file = join(checkout.directory, ".state", "pointers.json");
  await writeFile(file, JSON.stringify(pointers));
  const environment = {
    ...Object.fromEntries(variables.map((name) => [name, String(outputs[name])])),
    // The ml-runner's token reads; to register takes the deployer's.
    LAKEHOUSE_CATALOG_TOKEN: String(outputs["deployerToken"]),
  };
  const script = join(checkout.directory, "tests", "e2e", "python", "register_loop.py");
  return async (uri) => {
    const env = { ...environment, LAKEHOUSE_REST_URI: `${uri}/catalog` };
    const printed = await run(python, [script, file], { cwd: checkout.directory, env });
    return z.object({ seconds: z.number() }).parse(JSON.parse(printed)).seconds;
  };
}
