import { type Authorizer, type ObjectId, tabularObject } from "./authz/authorizer.ts";
import { log } from "./log.ts";
import { s3Client, longLivedKeys } from "./storage/vending.ts";
import type { Database } from "./store/database.ts";
import type { SecretStore } from "./store/secrets.ts";
import { deleteTabular } from "./store/tabulars.ts";
import { deleteTask, insertTask, postponeTask, takeTask, type Task } from "./store/tasks.ts";
import { findWarehouse } from "./store/warehouses.ts";

const attempts = 5;
const retrySeconds = 2;

/** Does in the background what a drop leaves to do: deletes files, and lets soft-deleted tables expire. */
export class TaskWorker {
  private readonly database: Database;
  private readonly secrets: SecretStore;
  private readonly authorizer: Authorizer | undefined;
  private running: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  constructor(database: Database, secrets: SecretStore, authorizer?: Authorizer) {
    this.database = database;
    this.secrets = secrets;
    this.authorizer = authorizer;
  }

  start(pollSeconds: number): void {
    this.timer = setInterval(() => this.wake(), pollSeconds * 1000);
    this.wake();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.timer = undefined;
    await this.running;
  }

  /** Looks for due tasks now instead of at the next poll. */
  wake(): void {
    this.running = this.running
      .then(() => this.drain())
      .catch((error: unknown) => {
        log("ERROR", "lakekeeper::tasks", "Tasks could not be run", { details: String(error) });
      });
  }

  private async drain(): Promise<void> {
    while (this.timer !== undefined && (await this.runOne()));
  }

  /** Runs one due task in a transaction that keeps it locked. False when none was due. */
  private async runOne(): Promise<boolean> {
    const gone: ObjectId[] = [];
    const found = await this.database.transaction(async (client) => {
      const task = await takeTask(client);
      if (task === undefined) return false;
      try {
        if (task.queue === "tabular_purge") await this.purge(task);
        else {
          const kind = await deleteTabular(client, task.warehouseId, task.tabularId);
          if (kind !== undefined) gone.push(tabularObject(kind, task.warehouseId, task.tabularId));
          if (task.purge) await insertTask(client, { ...task, queue: "tabular_purge" });
        }
        await deleteTask(client, task.id);
      } catch (error) {
        const last = task.attempt + 1 >= attempts;
        log(last ? "ERROR" : "WARN", "lakekeeper::tasks", `Task ${task.queue} failed`, {
          location: task.location,
          details: String(error),
        });
        if (last) await deleteTask(client, task.id);
        else await postponeTask(client, task.id, retrySeconds);
      }
      return true;
    });
    for (const object of gone) await this.authorizer?.removed(object);
    return found;
  }

  private async purge(task: Task): Promise<void> {
    const warehouse = await findWarehouse(this.database.read, task.warehouseId);
    if (warehouse === undefined) return;
    const credential = await this.secrets.read(warehouse.secretId);
    await s3Client(warehouse.profile, longLivedKeys(credential)).deleteAll(task.location);
  }
}
