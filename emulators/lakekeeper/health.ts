import type { Database } from "./store/database.ts";

type Status = "ok" | "error" | "unknown";
interface Check {
  readonly name: "read_pool" | "write_pool";
  lastCheck: number;
  status: Status;
}

/** The last known state of both pools, renewed every so often; what `/health` and `healthcheck` report. */
export class Health {
  private readonly database: Database;
  private readonly checks: Check[] = [
    { name: "read_pool", lastCheck: 0, status: "unknown" },
    { name: "write_pool", lastCheck: 0, status: "unknown" },
  ];
  private timer: NodeJS.Timeout | undefined;

  constructor(database: Database) {
    this.database = database;
  }

  async refresh(): Promise<void> {
    const pools = { read_pool: this.database.read, write_pool: this.database.write };
    await Promise.all(
      this.checks.map(async (check) => {
        check.status = await pools[check.name].query("SELECT 1").then(
          () => "ok" as const,
          () => "error" as const,
        );
        check.lastCheck = Date.now();
      }),
    );
  }

  start(seconds: number): void {
    this.timer = setInterval(() => void this.refresh(), seconds * 1000);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** The worst state of all checks, and the checks by service. Secrets live in the same database as the catalog. */
  report(): { health: Status; services: Record<string, readonly Check[]>; maintenance_mode: "off" } {
    const states = this.checks.map((check) => check.status);
    const health = states.includes("error") ? "error" : states.includes("unknown") ? "unknown" : "ok";
    return { health, services: { catalog: this.checks, secrets: this.checks, auth: [] }, maintenance_mode: "off" };
  }
}
