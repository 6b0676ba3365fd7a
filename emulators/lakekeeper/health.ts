import type { Authorizer } from "./authz/authorizer.ts";
import type { Database } from "./store/database.ts";

type Status = "ok" | "error" | "unknown";
interface Check {
  readonly name: "read_pool" | "write_pool" | "openfga";
  lastCheck: number;
  status: Status;
}

/** The last known state of both pools and of the authorizer, renewed every so often; what `/health` and `healthcheck` report. */
export class Health {
  private readonly database: Database;
  private readonly authorizer: Authorizer | undefined;
  private readonly authorization: Check[];
  private readonly checks: Check[] = [
    { name: "read_pool", lastCheck: 0, status: "unknown" },
    { name: "write_pool", lastCheck: 0, status: "unknown" },
  ];
  private timer: NodeJS.Timeout | undefined;

  constructor(database: Database, authorizer?: Authorizer) {
    this.database = database;
    this.authorizer = authorizer;
    this.authorization = authorizer === undefined ? [] : [{ name: "openfga", lastCheck: 0, status: "unknown" }];
  }

  async refresh(): Promise<void> {
    const attempts: Record<Check["name"], () => Promise<unknown> | undefined> = {
      read_pool: () => this.database.read.query("SELECT 1"),
      write_pool: () => this.database.write.query("SELECT 1"),
      openfga: () => this.authorizer?.ping(),
    };
    await Promise.all(
      [...this.checks, ...this.authorization].map(async (check) => {
        check.status = await Promise.resolve(attempts[check.name]()).then(
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
    const states = [...this.checks, ...this.authorization].map((check) => check.status);
    const health = states.includes("error") ? "error" : states.includes("unknown") ? "unknown" : "ok";
    const services = { catalog: this.checks, secrets: this.checks, auth: this.authorization };
    return { health, services, maintenance_mode: "off" };
  }
}
