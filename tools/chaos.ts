/**
 * `make chaos STACK=dev RUNS=20`: kills `make up` with SIGKILL at random moments, with Railway failing now and then, in
 * a checkout of its own against the emulators; then `make up` has to mend everything. Counts what Railway has in the
 * end: `orphans` are objects that a destroy leaves, `duplicates` those that are there more than once. SEED repeats a
 * sequence.
 */
import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { request } from "undici";
import { z } from "zod";
import { UserError } from "../clients/errors.ts";
import { makeCheckout, type Checkout } from "../tests/support/checkout.ts";
import { readAccounts } from "./accounts.ts";
import { command } from "./command.ts";
import { findEngine } from "./engine/engine.ts";

const MOST_ATTEMPTS = 3;

/** What Railway's API may do to a first `up`, each in one of two runs. */
const FAULTS = [
  "POST /graphql/v2/projectCreate, after, status 504, first 1",
  "POST /graphql/v2/serviceCreate, after, status 504, every 2, first 2",
  "POST /graphql/v2/volumeCreate, after, reset, first 1",
  "POST /graphql/v2/serviceDomainCreate, after, status 502, first 1",
  "POST /graphql/v2/serviceInstanceDeployV2, after, status 504, every 2, first 1",
  "POST /graphql/v2/*, before, status 429, every 9, first 4",
  "POST /graphql/v2/variableCollectionUpsert, before, reset, first 2",
];

const objectsSchema = z.record(z.string(), z.array(z.string()));
type Objects = z.infer<typeof objectsSchema>;

export interface ChaosResult {
  readonly runs: number;
  readonly converged: number;
  readonly orphans: number;
  readonly duplicates: number;
}

/** @param say is told of each run */
export async function chaos(
  stack: string,
  runs: number,
  seed: number,
  say: (line: string) => void,
): Promise<ChaosResult> {
  const random = generator(seed);
  const checkout = await makeCheckout(stack);
  try {
    say(`seed ${seed}; the first up, undisturbed, for comparison`);
    const start = performance.now();
    await checkout.mustMake("up");
    const usual = (performance.now() - start) / 1_000;
    const wanted = sizes(await objects(checkout));
    await destroy(checkout);

    let [converged, orphans, duplicates] = [0, 0, 0];
    for (let run = 1; run <= runs; run++) {
      const faults = FAULTS.filter(() => random() < 0.5);
      await setFaults(checkout, faults);
      const after = await killed(checkout, random() * usual);
      const attempts = await mended(checkout);
      await setFaults(checkout, []);
      const made = sizes(await objects(checkout));
      const surplus = Object.entries(made).reduce(
        (sum, [kind, count]) => sum + Math.max(count - (wanted[kind] ?? 0), 0),
        0,
      );
      const isComplete = Object.entries(wanted).every(([kind, count]) => (made[kind] ?? 0) >= count);
      await destroy(checkout);
      const left = Object.values(await objects(checkout)).flat().length;
      if (attempts !== undefined && isComplete) converged += 1;
      duplicates += surplus;
      orphans += left;
      const how = attempts === undefined ? `not mended in ${MOST_ATTEMPTS} runs` : `mended in ${attempts}`;
      say(`run ${run}/${runs}: ${after}, ${faults.length} faults; ${how}, ${surplus} too many, ${left} left behind`);
    }
    return { runs, converged, orphans, duplicates };
  } finally {
    await checkout.remove();
  }
}

/** Starts `up` and kills the engine after a while; in words when that was. */
async function killed(checkout: Checkout, seconds: number): Promise<string> {
  const running = checkout.start("up");
  const ended = running.result.then(() => true);
  await Promise.race([delay(seconds * 1_000), ended]);
  for (;;) {
    const pid = checkout.enginePid();
    if (pid !== undefined) {
      process.kill(pid, "SIGKILL");
      break;
    }
    // It has not begun to change anything, or is over.
    if (await Promise.race([delay(20, false), ended])) return "over before it was killed";
  }
  const { output } = await running.result;
  const last =
    output
      .match(/^ \+ .*?(\S+) (?:creating|created)/gm)
      ?.at(-1)
      ?.trim()
      .split(/\s+/)
      .at(-2) ?? "the start";
  return `killed after ${seconds.toFixed(1)} s at ${last}`;
}

/** How many runs it took; undefined when none succeeded. */
async function mended(checkout: Checkout): Promise<number | undefined> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    if ((await checkout.make("up")).code === 0) return attempt;
  }
  return undefined;
}

async function destroy(checkout: Checkout): Promise<void> {
  await checkout.engine("destroy", "--yes", "--skip-preview");
}

async function objects(checkout: Checkout): Promise<Objects> {
  const { body } = await request(`${await railwayOf(checkout)}/-/objects`);
  return objectsSchema.parse(await body.json());
}

async function setFaults(checkout: Checkout, rules: readonly string[]): Promise<void> {
  const { body } = await request(`${await railwayOf(checkout)}/-/faults`, { method: "PUT", body: rules.join("\n") });
  await body.dump();
}

async function railwayOf(checkout: Checkout): Promise<string> {
  return `http://127.0.0.1:${(await readAccounts(checkout.state)).ports.railway}`;
}

function sizes(found: Objects): Record<string, number> {
  return Object.fromEntries(Object.entries(found).map(([kind, names]) => [kind, names.length]));
}

/** Numbers from 0 to 1, the same for the same seed (the "mulberry32" generator). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function numberIn(name: string, usual: number): number {
  const text = process.env[name] || String(usual);
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UserError(`${name} is ${JSON.stringify(text)}: it must be a whole number.`);
}

if (import.meta.main) {
  await command(async () => {
    const stack = process.env.STACK === undefined || process.env.STACK === "local" ? "dev" : process.env.STACK;
    await findEngine();
    const say = (line: string): void => void process.stdout.write(`${line}\n`);
    const result = await chaos(stack, numberIn("RUNS", 20), numberIn("SEED", randomInt(1_000_000)), say);
    const { runs, converged, orphans, duplicates } = result;
    process.stdout.write(`orphans ${orphans}, duplicates ${duplicates}, converged ${converged}/${runs}\n`);
    if (orphans + duplicates > 0 || converged < runs) process.exitCode = 1;
  });
}
