import { execFileSync } from "node:child_process";
import { parseEnv } from "node:util";
import { formats, type Environment } from "../../tools/environment.ts";

const awkward: Record<string, string> = {
  PLAIN: "https://catalog.example.com/catalog",
  EMPTY: "",
  SPACES: " two  spaces ",
  QUOTES: 'say "yes"',
  APOSTROPHE: "it's",
  DOLLAR: "$HOME and ${HOME} and `id` and $(id)",
  HASH: "a # no comment",
  LINES: "first\nsecond\n",
  BACKSLASH: "back\\slash\\n",
};

/** What a shell has in `name` after it has run `script`. */
function inShell(script: string, name: string): string {
  return execFileSync("sh", ["-c", `${script}\nprintf %s "$${name}"`], { encoding: "utf8", env: {} });
}

describe("dotenv", () => {
  test.each(Object.entries(awkward))("a shell and Node.js read %s as it was", (name, value) => {
    const printed = formats.dotenv({ [name]: value });
    expect(inShell(printed, name)).toBe(value);
    expect(parseEnv(printed)).toEqual({ [name]: value });
  });

  test("a value that readers would read differently is refused by name and not printed", () => {
    const print = () => formats.dotenv({ LAKEHOUSE_CATALOG_TOKEN: `s3cr3t'$` });
    expect(print).toThrow(/LAKEHOUSE_CATALOG_TOKEN has a single quote.*FORMAT=export/s);
    expect(print).not.toThrow(/s3cr3t/);
  });

  test("plain values stay plain and keep their order", () => {
    expect(formats.dotenv({ LAKEHOUSE_REST_WAREHOUSE: "lakehouse", LAKEHOUSE_REST_VENDING: "1" })).toBe(
      "LAKEHOUSE_REST_WAREHOUSE=lakehouse\nLAKEHOUSE_REST_VENDING=1",
    );
  });
});

describe("export", () => {
  const everything = { ...awkward, BOTH: `it's "$x" \\ \`id\`` };

  test.each(Object.entries(everything))("a shell reads %s as it was", (name, value) => {
    expect(inShell(formats.export({ [name]: value }), name)).toBe(value);
  });
});

describe("json", () => {
  test("is an object of the values", () => {
    expect(JSON.parse(formats.json(awkward))).toEqual(awkward);
  });
});

describe("railway", () => {
  test("sets everything with one command, each pair one argument", () => {
    const railway = 'railway() { for argument; do printf "%s\\0" "$argument"; done; }';
    const script = `${railway}\n${formats.railway(awkward)}`;
    const received = execFileSync("sh", ["-c", script], { encoding: "utf8", env: {} }).split("\0").slice(0, -1);
    expect(received).toEqual([
      "variable",
      "set",
      ...Object.entries(awkward).map(([name, value]) => `${name}=${value}`),
    ]);
  });
});

describe("a secret that is not shown", () => {
  const masked: Environment = { LAKEHOUSE_CATALOG_TOKEN: undefined, LAKEHOUSE_REST_VENDING: "0" };

  test("is masked where it is read", () => {
    expect(parseEnv(formats.dotenv(masked))).toEqual({
      LAKEHOUSE_CATALOG_TOKEN: "********",
      LAKEHOUSE_REST_VENDING: "0",
    });
    expect(JSON.parse(formats.json(masked))).toMatchObject({ LAKEHOUSE_CATALOG_TOKEN: "********" });
  });

  test("is left out of what is meant to be run, which says so", () => {
    for (const printed of [formats.export(masked), formats.railway(masked)]) {
      expect(printed).toContain("# LAKEHOUSE_CATALOG_TOKEN is a secret: SHOW_SECRETS=1 includes it");
      expect(printed).not.toContain("*");
      expect(printed).not.toContain("LAKEHOUSE_CATALOG_TOKEN=");
    }
    expect(inShell(formats.export(masked), "LAKEHOUSE_REST_VENDING")).toBe("0");
  });
});
