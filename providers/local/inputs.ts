import { isDeepStrictEqual } from "node:util";
import { z } from "zod";

export const fileName = z.string().regex(/^[\w.-]+$/, "must be of letters, digits, ., - and _");

export const port = z
  .int("must be a port, 1024 to 65535")
  .min(1024, "must be 1024 or more")
  .max(65_535, "must be 65535 or less");

export const seconds = z.number("must be a number of seconds").positive("must be more than 0");

/** What everything that runs a program is given. */
export const programShape = {
  state: z.string().min(1, "must name a folder"),
  command: z.array(z.string()).min(1, "must name a program"),
  environment: z.record(z.string().regex(/^[^=\0]+$/, "must be the name of a variable"), z.string("must be text")),
  code: z.array(z.string()),
};

/** True when one of these inputs is not what it was. */
export function differs<T extends object>(olds: T, news: T, names: readonly (keyof T)[]): boolean {
  return names.some((name) => !isDeepStrictEqual(olds[name], news[name]));
}
