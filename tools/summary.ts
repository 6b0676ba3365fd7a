import type { Report } from "../providers/verification/report.ts";
import { formatReport } from "../providers/verification/report.ts";
import { environmentOf, formats, variables } from "./environment.ts";
import { stackOutputs } from "./outputs.ts";
import type { Stack } from "./stack.ts";

/** What `make up` ends with: what runs, how the verification went, and the ml-runner's environment without its secret. */
export async function summary(stack: Stack): Promise<string> {
  const wanted = [...variables, "lakekeeperRuntime", "verification", "cutover"] as const;
  const outputs = await stackOutputs(stack, wanted, false);
  // A run that changes nothing checks nothing again: its report is an earlier one.
  const report = outputs.verification as Report & { verifiedAt?: string };
  const when = report.verifiedAt === undefined ? "" : `; verified at ${report.verifiedAt}`;
  return [
    `Lakekeeper: ${String(outputs.lakekeeperRuntime)}; phase of the move: ${String(outputs.cutover)}${when}`,
    formatReport(report),
    formats.dotenv(environmentOf(outputs, false)),
  ].join("\n\n");
}
