import type { TableMetadata } from "../../clients/iceberg.ts";
import { describePlan, planTables, standing, type Version } from "../../providers/tables.plan.ts";

function version(number: number, log: number[] = [], uuid = "uuid"): Version {
  const metadata: TableMetadata = {
    "table-uuid": uuid,
    location: "s3://lakehouse/t",
    "last-updated-ms": number * 1_000,
    "metadata-log": log.map((earlier) => ({ "metadata-file": `v${earlier}`, "timestamp-ms": earlier * 1_000 })),
  };
  return { pointer: `v${number}`, metadata };
}

test("a plan adds, moves and removes, and leaves the rest", () => {
  const plan = planTables({ a: "1", b: "1", c: "1" }, { b: "1", c: "2", d: "1" });
  expect(plan).toEqual({ add: ["d"], move: ["c"], remove: ["a"] });
  expect(planTables({ a: "1" }, { a: "1" })).toEqual({ add: [], move: [], remove: [] });
});

test("a long plan is cut off and says so", () => {
  const wanted = Object.fromEntries(Array.from({ length: 84 }, (_, index) => [`t${index}`, "1"]));
  const lines = describePlan(planTables({}, wanted), {}, wanted);
  expect(lines).toHaveLength(26);
  expect(lines.at(-1)).toBe("and 59 more");
});

test.each<[string, Version, Version, string]>([
  ["the same file", version(3), version(3), "same"],
  ["a log that has the other one", version(3, [1, 2]), version(2, [1]), "newer"],
  ["the other one's log", version(1), version(3, [1, 2]), "older"],
  ["neither's log", version(4, [1, 2]), version(3, [1, 2]), "forked"],
  ["no logs at all", version(2), version(1), "forked"],
  ["a log that begins after the other one", version(300, [200, 250]), version(3, [1, 2]), "newer"],
  ["the other one's log, cut off", version(3, [1, 2]), version(300, [200, 250]), "older"],
  ["another UUID", version(3, [2]), version(2, [], "another"), "another table"],
])("%s: %#", (_what, one, other, expected) => {
  expect(standing(one, other)).toBe(expected);
});
