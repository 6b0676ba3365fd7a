/** `make bench`: measures, in a checkout of its own, what the project promises; exit code 1 when a promise is broken. */
import { makeCheckout } from "../../tests/support/checkout.ts";
import { UserError } from "../../clients/errors.ts";
import { command } from "../command.ts";
import { findEngine } from "../engine/engine.ts";
import { emulators } from "./emulators.ts";
import { memory } from "./memory.ts";
import { seconds, type Measure, type Measured } from "./measure.ts";
import { preview, secondUp } from "./noChange.ts";
import { registration } from "./registration.ts";
import { state } from "./state.ts";

/** Comes first in any case, for the others look at what it has made. */
const firstUp: Measure = {
  name: "first-up",
  target: "under 60 s with the engine cached",
  async run(checkout) {
    const taken = await seconds(() => checkout.mustMake("up"));
    return { seen: `${taken.toFixed(1)} s`, kept: taken < 60 };
  },
};
const others = [secondUp, preview, memory, state, registration];

await command(async () => {
  const only = process.env.ONLY || undefined;
  const names = [emulators, firstUp, ...others].map(({ name }) => name);
  if (only !== undefined && !names.includes(only)) {
    throw new UserError(`ONLY is ${JSON.stringify(only)}: it is one of ${names.join(", ")}.`);
  }
  const wanted = ({ name }: { name: string }): boolean => only === undefined || only === name;
  if (wanted(emulators)) report(emulators, await emulators.run());
  // It brings up what it looks at by itself.
  if (only === emulators.name) return;
  await findEngine();
  const checkout = await makeCheckout();
  try {
    for (const measure of [firstUp, ...others.filter(wanted)]) {
      report(measure, await measure.run(checkout));
    }
  } finally {
    await checkout.make("down");
    await checkout.remove();
  }
});

function report({ name, target }: Pick<Measure, "name" | "target">, { seen, kept }: Measured): void {
  process.stdout.write(`${kept ? "ok    " : "BROKEN"} ${name.padEnd(12)} ${seen}; ${target}\n`);
  if (!kept) process.exitCode = 1;
}
