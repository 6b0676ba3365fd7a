import { runVerification } from "../../../providers/verification/run.ts";
import { FakeCatalog, READER_TOKEN, WAREHOUSE_ID } from "../../support/fakeCatalog.ts";

// What the two checks of permissions make of the catalog's answer to a commit, which here is the same for everybody.

let catalog: FakeCatalog;

beforeEach(async () => {
  catalog = await new FakeCatalog().start();
});
afterEach(() => catalog.stop());

const COMMIT = `POST /catalog/v1/${WAREHOUSE_ID}/namespaces/main%1Fdefault/tables/t000`;

async function permissions(status: number, type: string) {
  const error = { message: "refused", type, code: status, stack: [] };
  catalog.answers[COMMIT] = { status, body: status < 300 ? {} : { error } };
  const onlyReader = { kind: "token" as const, token: READER_TOKEN };
  const { checks, fatal } = await runVerification(catalog.inputs({ vending: "off", onlyReader }));
  const told = (name: string) => {
    const { outcome, seen } = checks.find(({ check }) => check === name)!;
    return `${outcome}: ${seen}`;
  };
  return { runner: told("the ml-runner may write"), karma: told("Karma may read, not write"), fatal };
}

test("who may not write is refused: right for Karma, and wrong for the ml-runner", async () => {
  const { runner, karma, fatal } = await permissions(403, "TableActionForbidden");
  expect(karma).toBe("passed: loads main.default.t000; a commit is refused: 403 TableActionForbidden");
  expect(runner).toMatch(/^failed: the ml-runner is not allowed to commit to main.default.t000 .*pulumi up --refresh/);
  expect(fatal).toEqual([expect.stringMatching(/^the ml-runner may write: /)]);
});

test("who may write is told that the commit cannot be made: right for the ml-runner, and wrong for Karma", async () => {
  const { runner, karma, fatal } = await permissions(409, "CatalogCommitConflicts");
  expect(runner).toMatch(/^passed: allowed to commit to main.default.t000/);
  expect(karma).toMatch(/^failed: Karma is allowed to commit to main.default.t000/);
  expect(fatal).toHaveLength(1);
});

test.each([
  [200, "", "was taken for main.default.t000"],
  [500, "CatalogBackendError", "500 CatalogBackendError"],
])("an answer %d proves nothing for either", async (status, type, words) => {
  const { runner, karma } = await permissions(status, type);
  for (const told of [runner, karma]) {
    expect(told).toMatch(/^failed: /);
    expect(told).toContain(words);
  }
});

test("without OpenFGA nobody is asked to commit", async () => {
  const { checks } = await runVerification(catalog.inputs({ vending: "off" }));
  expect(checks.map(({ check }) => check)).not.toContain("Karma may read, not write");
  expect(catalog.requests).not.toContain(COMMIT);
});
