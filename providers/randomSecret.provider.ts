import { randomInt } from "node:crypto";
import { z } from "zod";
import { checkInputs, configure, type Provider } from "./provider.ts";

export interface RandomSecretInputs {
  length: number;
  prefix: string;
  generation: number;
}

export interface RandomSecretOutputs extends RandomSecretInputs {
  value: string;
}

const schema = z.object({
  length: z.int("must be a whole number").min(16, "must be 16 or more").max(1024, "must be 1024 or less"),
  prefix: z.string().regex(/^[A-Za-z0-9_-]*$/, "must be of letters, digits, - and _"),
  generation: z.int("must be a whole number, 1 or more").min(1, "must be 1 or more"),
});

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Needs no quoting in a URL, an environment file, SQL or a shell. */
const ALPHABET = LETTERS + "0123456789";

/**
 * The first character is a letter: Lakekeeper reads an environment value of digits alone as a number, and then refuses
 * it as an encryption key.
 */
function randomText(length: number): string {
  const pick = (characters: string) => characters.charAt(randomInt(characters.length));
  return pick(LETTERS) + Array.from({ length: length - 1 }, () => pick(ALPHABET)).join("");
}

const randomSecret: Provider<RandomSecretInputs, RandomSecretOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(_id, olds, news) {
    return { changes: olds.generation !== news.generation };
  },

  async create(inputs) {
    return { id: "random-secret", outs: { ...inputs, value: inputs.prefix + randomText(inputs.length) } };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, _olds, news) {
    return { outs: { ...news, value: news.prefix + randomText(news.length) } };
  },

  /** The value lives in state alone. */
  async delete() {},
};

export default randomSecret;
