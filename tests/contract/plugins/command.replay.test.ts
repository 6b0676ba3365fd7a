import { commandPlugin } from "../../../emulators/plugins/command/plugin.ts";
import { secret } from "../../../emulators/plugins/protocol.ts";
import { recordedSteps, recordingsPresent, type RecordedCall } from "./recording.ts";
import { answerOf, comparable, isAnswered, recordedAnswer } from "./replay.ts";

/*
 * The stand-in is called as the engine called the real plugin (1.2.1), runs the same commands, and has to answer the same.
 * Ids are random. What the recording hides is given as the text that it shows in its place.
 */

const HIDDEN = "<secret value in clear>";

/** Calls by recording, step, method and resource that are not replayed, and why. */
const EXCEPTIONS: Record<string, string> = {
  "local-options env-stdin-interp-dir Create secretcreate": "the command itself is hidden",
  "extra config-secret-in-failing-command Create f": "the command itself is hidden",
  "extra noncfg-secret-in-failing-command Create f": "the command itself is hidden",
  "local-failures raw-unknown-type Check bad4": "its gRPC code is NotFound, and here Unknown with the same words",
};

/** How many calls of each recording are replayed at least. */
const CALLS = { "local-lifecycle": 25, "local-run": 12, "local-failures": 35, "local-options": 25, extra: 30 };

const plugin = commandPlugin({ version: "1.2.1", log: () => Promise.resolve() });
const replay = recordingsPresent ? describe : describe.skip;

replay("the recordings of the real plugin", () => {
  test.each(Object.entries(CALLS))("command-%s is what the stand-in does", async (recording, atLeast) => {
    let calls = 0;
    for (const { step, provider_calls: recorded } of recordedSteps(`command-${recording}`)) {
      for (const call of recorded.filter((one) => isReplayed(one, `${recording} ${step}`))) {
        const named = { step, method: call.method };
        const actual = await answerOf(plugin, call.method, shown(call.request));
        expect({ ...named, answer: alike(actual) }).toEqual({ ...named, answer: alike(recordedAnswer(call)) });
        calls += 1;
      }
    }
    expect(calls).toBeGreaterThanOrEqual(atLeast);
  });
});

function isReplayed(call: RecordedCall, where: string): boolean {
  const { name = "", type = "" } = call.request as { name?: string; type?: string };
  // What answers remote resources and DiffConfig is no part of the stand-in.
  if (!isAnswered(call) || call.method === "DiffConfig" || type.startsWith("command:remote:")) return false;
  return EXCEPTIONS[`${where} ${call.method} ${name}`] === undefined;
}

/** The request with secrets that can be used. */
function shown(value: unknown): unknown {
  if (value === "<secret>") return secret(HIDDEN);
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shown(inner)]));
}

function alike(answer: unknown): unknown {
  const { id, diffs, ...rest } = comparable(answer ?? {}) as { id?: string; diffs?: string[] };
  // Go's maps have no order.
  return {
    ...rest,
    ...(id !== undefined && { id: id.replace(/[0-9a-f]{8}$/, "") }),
    ...(diffs && { diffs: diffs.toSorted() }),
  };
}
