/** `make bench`: measures, in a checkout of its own, what the project promises; exit code 1 when a promise is broken. */
import { makeCheckout } from "../../tests/support/checkout.ts";
import { UserError } from "../../clients/errors.ts";
import { command } from "../command.ts";
import { findEngine } from "../engine/engine.ts";
import { memory } from "./memory.ts";
import { seconds, type Measure } from "./measure.ts";
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
  const names = [firstUp, ...others].map(({ name }) => name);
  if (only !== undefined && !names.includes(only)) {
    throw new UserError(`ONLY is ${JSON.stringify(only)}: it is one of ${names.join(", ")}.`);
  }
  await findEngine();
  const checkout = await makeCheckout();
  try {
    for (const measure of [firstUp, ...others.filter(({ name }) => only === undefined || only === name)]) {
      const { seen, kept } = await measure.run(checkout);
      process.stdout.write(`${kept ? "ok    " : "BROKEN"} ${measure.name.padEnd(12)} ${seen}; ${measure.target}\n`);
      if (!kept) process.exitCode = 1;
    }
  } finally {
    await checkout.make("down");
    await checkout.remove();
  }
});
