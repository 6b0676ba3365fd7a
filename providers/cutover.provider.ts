import { z } from "zod";
import { checkFailure, checkInputs, configure, type Provider } from "./provider.ts";
import type { Phase } from "./cutover.ts";

export interface CutoverState {
  phase: Phase;
}

const PHASES = ["sql", "read", "write", "retired"] as const;

const schema = z.object({ phase: z.enum(PHASES, { error: `must be one of ${PHASES.join(", ")}` }) });

/**
 * `sql` and `read` may be exchanged at will, which is the reversible flip. From `write` on Lakekeeper's metadata moves
 * ahead of the SqlCatalog's: going back to its pointers would drop every commit made since.
 */
function isWayBack(from: Phase | undefined, to: Phase): boolean {
  return (from === "write" || from === "retired") && (to === "sql" || to === "read");
}

const cutover: Provider<CutoverState> = {
  configure,

  async check(olds, news) {
    const result = checkInputs(schema, news);
    if (isWayBack(olds.phase, news.phase)) {
      result.failures.push(
        checkFailure(
          `lakekeeper:cutover cannot go from ${olds.phase} back to ${news.phase}: Lakekeeper has been committing, and the ` +
            `SqlCatalog's pointers are behind. Keep lakekeeper:cutover at ${olds.phase}; to undo the move, restore a ` +
            "snapshot from before it (docs/operations.md).",
        ),
      );
    }
    return result;
  },

  async diff(_id, olds, news) {
    return { changes: olds.phase !== news.phase };
  },

  async create(inputs) {
    return { id: "cutover", outs: inputs };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, _olds, news) {
    return { outs: news };
  },

  async delete() {},
};

export default cutover;
