import { z } from "zod";
import { run } from "./run.ts";
import { checkout, type Stack } from "./stack.ts";

const resource = z.object({
  urn: z.string(),
  type: z.string(),
  id: z.string().optional(),
  retainOnDelete: z.boolean().optional(),
});
const exported = z.object({ deployment: z.object({ resources: z.array(resource).nullish() }) });

/** What a stack leaves where it is when it is destroyed, such as `Project project (8f14e45f-...)`. */
export async function retainedOf(stack: Stack): Promise<string[]> {
  const printed = await run("pulumi", ["stack", "export", "--stack", stack.name], {
    cwd: checkout,
    env: stack.environment,
  });
  const { resources } = exported.parse(JSON.parse(printed)).deployment;
  return (resources ?? [])
    .filter(({ retainOnDelete }) => retainOnDelete === true)
    .map(({ urn, type, id }) => `${lastPart(type)} ${lastPart(urn)} (${id ?? "no id"})`);
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1);
}
