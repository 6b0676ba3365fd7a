import { join } from "node:path";
import type { Checkout } from "../../tests/support/checkout.ts";
import { run } from "../run.ts";
import type * as StackModule from "../stack.ts";
import { median, seconds, type Measure } from "./measure.ts";

const rounds = 5;

/** `make up` when everything is up. */
export const secondUp: Measure = {
  name: "second-up",
  target: "under 8 s",
  async run(checkout) {
    const taken = median([await timeUp(checkout), await timeUp(checkout), await timeUp(checkout)]);
    return { seen: `${taken.toFixed(1)} s`, kept: taken < 8 };
  },
};

function timeUp(checkout: Checkout): Promise<number> {
  return seconds(() => checkout.mustMake("up"));
}

/** `pulumi preview` when nothing changes, in turns with a program that has one resource. */
export const preview: Measure = {
  name: "preview",
  target: "under 2x a program with one resource",
  async run(checkout) {
    const one = join(checkout.directory, "tools", "bench", "one-resource");
    // The checkout's own copy, which knows the checkout's own state.
    const { currentStack, stackArguments } = (await import(
      join(checkout.directory, "tools/stack.ts")
    )) as typeof StackModule;
    const stack = await currentStack();
    const engine = (cwd: string, ...args: string[]): Promise<string> =>
      run("pulumi", args, { cwd, env: stack.environment });
    await engine(one, "stack", "init", stack.name);
    await engine(one, "up", "--yes", "--skip-preview");

    const all: number[] = [];
    const single: number[] = [];
    for (let round = 0; round < rounds; round++) {
      all.push(await seconds(() => engine(checkout.directory, "preview", ...stackArguments(stack))));
      single.push(await seconds(() => engine(one, "preview")));
    }
    const ratio = median(all) / median(single);
    return {
      seen: `${ratio.toFixed(2)}x (${median(all).toFixed(2)} s and ${median(single).toFixed(2)} s)`,
      kept: ratio < 2,
    };
  },
};
