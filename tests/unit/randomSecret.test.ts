import randomSecret from "../../providers/randomSecret.provider.ts";

const inputs = { length: 40, prefix: "", generation: 1 };

test("is of letters and digits, begins with a letter and has the length asked for", async () => {
  for (let i = 0; i < 200; i++) {
    const { outs } = await randomSecret.create({ ...inputs, length: 16 });
    expect(outs.value).toMatch(/^[A-Za-z][A-Za-z0-9]{15}$/);
  }
});

test("has the prefix in front of all its random characters", async () => {
  const { outs } = await randomSecret.create({ ...inputs, prefix: "lk_" });
  expect(outs.value).toMatch(/^lk_[A-Za-z][A-Za-z0-9]{39}$/);
});

test("uses every character of its alphabet, and no value twice", async () => {
  const values = await Promise.all(
    Array.from({ length: 50 }, async () => (await randomSecret.create({ ...inputs, length: 200 })).outs.value),
  );
  expect(new Set(values).size).toBe(50);
  expect(new Set(values.join("")).size).toBe(62);
});

test("another length or prefix does not touch the value; another generation replaces it", async () => {
  const { id, outs } = await randomSecret.create(inputs);
  expect(await randomSecret.diff(id, outs, inputs)).toEqual({ changes: false });
  expect(await randomSecret.diff(id, outs, { length: 20, prefix: "x", generation: 1 })).toEqual({ changes: false });
  expect(await randomSecret.diff(id, outs, { ...inputs, generation: 2 })).toEqual({ changes: true });
  const updated = await randomSecret.update(id, outs, { length: 20, prefix: "x", generation: 2 });
  expect(updated.outs.value).toMatch(/^x[A-Za-z][A-Za-z0-9]{19}$/);
  expect(updated.outs).toMatchObject({ length: 20, generation: 2 });
});

test("refresh keeps the value", async () => {
  const { id, outs } = await randomSecret.create(inputs);
  expect(await randomSecret.read(id, outs)).toEqual({ id, props: outs });
});

test.each([
  [{ length: 15 }, "length must be 16 or more, not 15"],
  [{ length: 1025 }, "length must be 1024 or less, not 1025"],
  [{ prefix: "a b" }, 'prefix must be of letters, digits, - and _, not "a b"'],
  [{ generation: 0 }, "generation must be 1 or more, not 0"],
])("refuses %j", async (changed, reason) => {
  expect((await randomSecret.check({}, { ...inputs, ...changed })).failures).toEqual([{ property: "", reason }]);
});
