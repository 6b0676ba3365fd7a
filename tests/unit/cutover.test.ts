import cutover from "../../providers/cutover.provider.ts";
import type { Phase } from "../../providers/cutover.ts";

async function problems(from: Phase | undefined, to: string): Promise<string[]> {
  const { failures } = await cutover.check(from === undefined ? {} : { phase: from }, { phase: to as Phase });
  return failures.map(({ reason }) => reason);
}

test.each<[Phase | undefined, Phase]>([
  [undefined, "sql"],
  [undefined, "write"],
  ["sql", "read"],
  ["read", "sql"],
  ["read", "write"],
  ["write", "retired"],
  ["retired", "write"],
])("from %s to %s is allowed", async (from, to) => {
  expect(await problems(from, to)).toEqual([]);
});

test.each<[Phase, Phase]>([
  ["write", "read"],
  ["write", "sql"],
  ["retired", "read"],
  ["retired", "sql"],
])("from %s back to %s is refused in the preview, since the SqlCatalog is behind", async (from, to) => {
  const [reason] = await problems(from, to);
  expect(reason).toContain(`cannot go from ${from} back to ${to}`);
  expect(reason).toContain("restore a snapshot");
});

test("an unknown phase is named with the known ones", async () => {
  expect(await problems("sql", "done")).toEqual(['phase must be one of sql, read, write, retired, not "done"']);
});

test("another phase is a change, the same is none", async () => {
  expect(await cutover.diff("cutover", { phase: "sql" }, { phase: "read" })).toEqual({ changes: true });
  expect(await cutover.diff("cutover", { phase: "read" }, { phase: "read" })).toEqual({ changes: false });
});
