import { stackArguments, type Stack } from "./stack.ts";

/**
 * Arguments of a command of the engine that changes a stack. It asks before it changes one that may be somebody's
 * production, unless YES=1; an isolated stack is ours alone. The outputs that a person wants are told afterwards, in
 * fewer lines.
 */
export function changing(stack: Stack, name: "up" | "refresh" | "destroy"): string[] {
  const always = [name, ...stackArguments(stack), "--suppress-outputs"];
  // Only a preview finds what is protected before anything has been deleted.
  if (stack.isolated) return [...always, "--yes", ...(name === "destroy" ? [] : ["--skip-preview"])];
  return process.env.YES === "1" ? [...always, "--yes"] : always;
}
