/** The command that runs a TypeScript file of this checkout as a small server process. */
export function nodeCommand(script: string, ...args: string[]): string[] {
  return ["node", "--disable-warning=ExperimentalWarning", script, ...args];
}
