import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Checkout } from "../../tests/support/checkout.ts";
import tables, { type TablesInputs, type TablesOutputs } from "../../providers/tables.provider.ts";
import { variables } from "../environment.ts";
import { pythonWithPackages } from "../python.ts";
import { run } from "../run.ts";
import { median, seconds, type Measure } from "./measure.ts";
import { inputsOf } from "../stackState.ts";

const rounds = 5;

/** The tables of the stack registered by our provider and, in turns, by PyIceberg one after the other. */
export const registration: Measure = {
  name: "registration",
  target: "at least 4x faster than PyIceberg's register_table loop",
  async run(checkout) {
    const exported = await checkout.engine("stack", "export", "--show-secrets");
    const inputs = inputsOf("Tables", exported) as TablesInputs | undefined;
    if (inputs === undefined) return { seen: "the stack has no tables", kept: false };
    const outputs = await checkout.outputs();
    const count = Object.keys(inputs.tables).length;
    const withPyIceberg = await pyIcebergLoop(checkout, inputs, outputs);

    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await unregister(inputs);
      theirs.push(await withPyIceberg());
      await unregister(inputs);
      ours.push(await seconds(() => tables.create(inputs)));
    }
    const ratio = median(theirs) / median(ours);
    return {
      seen: `${ratio.toFixed(1)}x (${count} tables in ${median(ours).toFixed(2)} s and ${median(theirs).toFixed(2)} s)`,
      kept: ratio >= 4,
    };
  },
};

async function unregister(inputs: TablesInputs): Promise<void> {
  const registered: TablesOutputs = { ...inputs, registered: inputs.tables, tableUuids: {} };
  await tables.delete("tables", registered);
}

/** @returns what runs the loop once and resolves to the seconds that its register calls took. */
async function pyIcebergLoop(
  checkout: Checkout,
  { tables: pointers }: TablesInputs,
  outputs: Readonly<Record<string, unknown>>,
): Promise<() => Promise<number>> {
  const python = await pythonWithPackages();
  const file = join(checkout.directory, ".state", "pointers.json");
  await writeFile(file, JSON.stringify(pointers));
  const environment = {
    ...Object.fromEntries(variables.map((name) => [name, String(outputs[name])])),
    // The ml-runner's token reads; to register takes the deployer's.
    LAKEHOUSE_CATALOG_TOKEN: String(outputs["deployerToken"]),
  };
  const script = join(checkout.directory, "tests", "e2e", "python", "register_loop.py");
  return async () => {
    const printed = await run(python, [script, file], { cwd: checkout.directory, env: environment });
    return z.object({ seconds: z.number() }).parse(JSON.parse(printed)).seconds;
  };
}
