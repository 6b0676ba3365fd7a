import { chaos } from "../../tools/chaos.ts";

test("an up that is killed at any moment, with Railway failing now and then, is mended by the next one", async () => {
  const said: string[] = [];
  const { converged, orphans, duplicates } = await chaos("dev", 4, 20_261, (line) => said.push(line));
  said.push(`orphans ${orphans}, duplicates ${duplicates}, converged ${converged}/4`);
  expect(said.join("\n")).toMatch(/\norphans 0, duplicates 0, converged 4\/4$/);
  expect(said.filter((line) => line.includes("killed after")).length).toBeGreaterThan(0);
}, 600_000);
