import { joinSettings, splitSettings } from "../../tools/settings.ts";

const plain = `# Mine
config:
  # where it runs
  lakekeeper:platform: local # here

  lakekeeper:auth:
    tokenLifetimeDays: 30
`;
const secret = `  lakekeeper:sqlCatalog:
    secure: v1:c2FsdA==:c2VjcmV0
`;
const salt = "encryptionsalt: v1:c2FsdA==:v1:eA==:eQ==\n";

test("secrets and their salt are taken out, and everything else stays as it was", () => {
  const text = plain.replace("  lakekeeper:auth", `${secret}  lakekeeper:auth`) + salt;
  expect(splitSettings(text)).toEqual({ plain, secrets: [secret], encryption: salt });
});

test("a real stack's key is taken out like a salt", () => {
  const { plain: left, encryption } = splitSettings(`secretsprovider: awskms://k\nencryptedkey: AAA=\n${plain}`);
  expect(left).toBe(plain);
  expect(encryption).toBe("secretsprovider: awskms://k\nencryptedkey: AAA=\n");
});

test.each([
  ["after the plain ones", plain],
  ["into an indentation of four", plain.replace(/^ {2}/gm, "    ")],
  ["without a newline at the end", plain.trimEnd()],
  ["into nothing", ""],
  ["into an empty config", "config: {}\n"],
])("secrets are put in again %s", (_where, settings) => {
  const joined = joinSettings({ plain: settings, secrets: [secret], encryption: salt });
  const again = splitSettings(joined);
  expect(again.secrets.map((entry) => entry.replace(/^ +/gm, ""))).toEqual([secret.replace(/^ +/gm, "")]);
  expect(again.encryption).toBe(salt);
  expect(joined).toContain("\nencryptionsalt: ");
  if (settings.includes("platform")) expect(again.plain.trimEnd()).toBe(settings.trimEnd());
});

test.each(["lakekeeper:sqlCatalog", '"lakekeeper:sqlCatalog"'])(
  "a plain setting %s stands instead of a secret",
  (key) => {
    const given = `${plain}  ${key}: sqlite:////catalog.db\n`;
    expect(joinSettings({ plain: given, secrets: [secret], encryption: salt })).toBe(given + salt);
  },
);

test("a nested secret is a secret as a whole", () => {
  const nested = "  lakekeeper:auth:\n    mode: x\n    key:\n      secure: v1:a\n";
  expect(splitSettings(`config:\n${nested}  lakekeeper:bucket: b\n`)).toEqual({
    plain: "config:\n  lakekeeper:bucket: b\n",
    secrets: [nested],
    encryption: "",
  });
});
