/** A stack's settings file taken apart: what may be shared, and what only the holder of a passphrase or key can read. */
export interface Settings {
  /** The file without its encrypted settings, comments and order as they were. */
  readonly plain: string;
  /** Entries of `config` with an encrypted value, as they are written. */
  readonly secrets: readonly string[];
  /** The lines that say how they are encrypted. */
  readonly encryption: string;
}

const ENCRYPTION = /^(?:encryptionsalt|secretsprovider|encryptedkey):.*(?:\n|$)/gm;

/** Takes the text of a `Pulumi.<stack>.yaml` apart. Pulumi writes an encrypted setting in lines of its own. */
export function splitSettings(text: string): Settings {
  const encryption = [...text.matchAll(ENCRYPTION)].map(([line]) => `${line.trimEnd()}\n`).join("");
  const kept: string[] = [];
  const secrets: string[] = [];
  for (const entry of entries(text.replace(ENCRYPTION, ""))) {
    (/^\s+secure:\s/m.test(entry) ? secrets : kept).push(entry);
  }
  return { plain: kept.join(""), secrets, encryption };
}

/** Puts a settings file together again. A setting that is given plainly is not taken from the encrypted ones too. */
export function joinSettings({ plain, secrets, encryption }: Settings): string {
  const parts = entries(plain === "" || plain.endsWith("\n") ? plain : `${plain}\n`);
  const given = new Set(parts.map(keyOf));
  const added = secrets.filter((entry) => !given.has(keyOf(entry))).map((entry) => indented(entry, indentOf(plain)));
  if (added.length > 0) {
    const last = parts.findLastIndex((part) => keyOf(part) !== undefined);
    if (last >= 0) parts.splice(last + 1, 0, ...added);
    else parts.splice(0, parts.length, ...parts.filter((part) => !part.startsWith("config:")), "config:\n", ...added);
  }
  return parts.join("") + encryption;
}

/** The keys of `config` in a settings file or in some of its entries. */
export function keysIn(text: string): string[] {
  return entries(text)
    .map(keyOf)
    .filter((key) => key !== undefined);
}

/** The entries of `config`, each with the lines that belong to it; every other line is a part of its own. */
function entries(text: string): string[] {
  const indent = indentOf(text);
  const parts: string[] = [];
  let inEntry = false;
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const depth = /^ */.exec(line)![0].length;
    const blank = /^\s*(?:#|$)/.test(line);
    if (inEntry && !blank && depth > indent) {
      parts[parts.length - 1] += line;
    } else {
      parts.push(line);
      inEntry = !blank && depth === indent;
    }
  }
  return parts;
}

/** How far the entries of `config` are indented. */
function indentOf(text: string): number {
  return /^config:.*\n(?:\s*(?:#.*)?\n)*( +)\S/m.exec(text)?.[1]!.length ?? 2;
}

function indented(secret: string, wanted: number): string {
  const own = /^ */.exec(secret)![0].length;
  return secret.replace(/^ +/gm, (spaces) => " ".repeat(spaces.length - own + wanted));
}

function keyOf(entry: string): string | undefined {
  return /^ +(["']?)([^\s"'#][^"'#]*?)\1:(?:\s|$)/.exec(entry)?.[2];
}
