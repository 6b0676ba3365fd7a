import { isPortFree } from "../../../platforms/local/ports.ts";
import provider from "../../../providers/local/ports.provider.ts";

test("ports are free, different, and kept when a name joins", async () => {
  const { id, outs } = await provider.create({ names: ["postgres", "r2"], fixed: {} });
  const { postgres, r2 } = outs.ports;

  expect(postgres).not.toBe(r2);
  expect(await isPortFree(postgres!)).toBe(true);
  const news = { names: ["postgres", "r2", "issuer"], fixed: {} };
  expect(await provider.diff(id, outs, { names: ["postgres", "r2"], fixed: {} })).toEqual({ changes: false });
  expect(await provider.diff(id, outs, news)).toEqual({ changes: true });
  const { outs: more } = await provider.update(id, outs, news);
  expect(more.ports).toMatchObject({ postgres, r2 });
  expect(new Set(Object.values(more.ports)).size).toBe(3);
});

test("a fixed port is used; what was picked before makes way for it", async () => {
  const { id, outs } = await provider.create({ names: ["postgres", "lakekeeper"], fixed: { lakekeeper: 8181 } });
  expect(outs.ports["lakekeeper"]).toBe(8181);

  const fixed = { lakekeeper: outs.ports["postgres"]! };
  const { outs: moved } = await provider.update(id, outs, { names: ["postgres", "lakekeeper"], fixed });
  expect(moved.ports["lakekeeper"]).toBe(fixed.lakekeeper);
  expect(moved.ports["postgres"]).not.toBe(fixed.lakekeeper);
});

test("wrong ports are told all at once", async () => {
  const names = ["a", "b", "c"];
  const { failures } = await provider.check({}, { names, fixed: { a: 80, b: 8181, c: 8181, d: 9000 } });

  expect(failures.map(({ reason }) => reason)).toEqual([
    "fixed.a must be 1024 or more, not 80",
    "fixed.c must differ from the port of b in lakekeeper:ports, not 8181",
    "fixed.d is the port of nothing: lakekeeper:ports is for a, b, c",
  ]);
});
