import { chaos } from "../../tools/chaos.ts";

test("an up that is killed at any moment, with Railway failing now and then, is mended by the next one", async () => {
  const said: string[] = [];
  const result = await chaos("dev", 4, 20_261, (line) => said.push(line));
  expect({ ...result, said }).toEqual({ runs: 4, converged: 4, orphans: 0, duplicates: 0, said });
  expect(said.filter((line) => line.includes("killed after")).length).toBeGreaterThan(0);
}, 600_000);
