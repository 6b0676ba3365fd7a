import release, { type ReleaseState } from "../../providers/release.provider.ts";

const at = (version: string, changed: Partial<ReleaseState> = {}): ReleaseState => ({
  version,
  database: "7411",
  restoredBackup: "",
  ...changed,
});

async function refusal(olds: Partial<ReleaseState>, news: ReleaseState): Promise<string | undefined> {
  return (await release.check(olds, news)).failures[0]?.reason;
}

test.each([
  ["the first one", {}, at("0.13.3")],
  ["the same", at("0.13.3"), at("0.13.3")],
  ["a newer one", at("0.9.5"), at("0.13.3")],
  ["an older one on another database", at("0.13.3"), at("0.9.5", { database: "7412" })],
  ["an older one on a backup that has been put back", at("0.13.3"), at("0.9.5", { restoredBackup: "before-0.13" })],
])("%s is taken", async (_what, olds, news) => {
  expect(await refusal(olds, news)).toBeUndefined();
});

test("an older one on the same data is refused, with both ways on", async () => {
  const reason = await refusal(at("0.13.3"), at("0.9.5"));
  expect(reason).toContain("lakekeeper:version cannot go from 0.13.3 back to 0.9.5");
  expect(reason).toContain("Keep lakekeeper:version at 0.13.3");
  expect(reason).toContain("name that state in lakekeeper:restoredBackup");
});

test("a backup that allowed one way down does not allow the next", async () => {
  const olds = at("0.12.0", { restoredBackup: "before-0.13" });
  expect(await refusal(olds, at("0.11.0", { restoredBackup: "before-0.13" }))).toContain("cannot go from 0.12.0");
});
