import { redact } from "../../clients/redact.ts";

export interface Check {
  /** What was checked. */
  readonly check: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** What was seen, or why the check failed or did not run. Never a secret. */
  readonly seen: string;
  readonly milliseconds: number;
}

export interface Report {
  /** When the checks began, ISO 8601. */
  readonly verifiedAt: string;
  readonly checks: Check[];
  /** Credentials were vended, and they open the table and nothing else. */
  readonly vendingVerified: boolean;
  /** Why clients must not be pointed at this catalog yet; empty when they may. */
  readonly fatal: string[];
}

/** A check that was run, with what it found for the checks after it. */
export interface Step<Found> {
  readonly check: Check;
  readonly found: Found | undefined;
}

/** What a check saw, in words, and what it hands on. */
export interface Seen<Found> {
  readonly seen: string;
  readonly found?: Found;
}

/** Thrown by a check that cannot or need not run, with the reason. */
export class Skip extends Error {
  override readonly name = "Skip";
}

/** Runs checks one after the other and keeps what came of each. */
export class Checks {
  readonly results: Check[] = [];
  readonly #secrets: string[] = [];

  /** Keeps these texts out of the report, whoever puts them into a message. */
  hide(...secrets: string[]): void {
    this.#secrets.push(...secrets);
  }

  async run<Found>(name: string, action: () => Promise<Seen<Found>>): Promise<Step<Found>> {
    const start = performance.now();
    const finish = (outcome: Check["outcome"], seen: string, found?: Found): Step<Found> => {
      const milliseconds = Math.round(performance.now() - start);
      const check = { check: name, outcome, seen: redact(seen, this.#secrets), milliseconds };
      this.results.push(check);
      return { check, found };
    };
    try {
      const { seen, found } = await action();
      return finish("passed", seen, found);
    } catch (error) {
      return finish(error instanceof Skip ? "skipped" : "failed", (error as Error).message);
    }
  }
}

/** What an earlier check found. Skips the check at hand if that one did not pass. */
export function need<Found>({ check, found }: Step<Found>): Found {
  if (check.outcome !== "passed") throw new Skip(`not without "${check.check}"`);
  return found as Found;
}

/** The report as a table, one check to a line. */
export function formatReport(report: Report): string {
  const rows = report.checks.map(({ check, outcome, seen, milliseconds }) => ({
    outcome: outcome === "failed" ? "FAILED" : outcome,
    check,
    time: `${milliseconds} ms`,
    seen,
  }));
  const width = (column: "outcome" | "check" | "time") => Math.max(...rows.map((row) => row[column].length));
  const [outcome, check, time] = [width("outcome"), width("check"), width("time")];
  return rows
    .map((row) => [row.outcome.padEnd(outcome), row.check.padEnd(check), row.time.padStart(time), row.seen].join("  "))
    .join("\n");
}
