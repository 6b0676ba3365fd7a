/** The Pulumi release that this project is tested with; also the oldest one accepted from PATH. */
export const version = "3.274.1";

/** What a usable engine consists of; an official install has all of it in one folder. */
export const programs = ["pulumi", "pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"] as const;

/** Tells the person at the terminal what is going on; standard output is left to the result. */
export function say(line: string): void {
  process.stderr.write(`engine: ${line}\n`);
}
