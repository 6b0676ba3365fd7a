import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pythonWithPackages } from "../../../../tools/python.ts";
import { bucket as lakehouse, type Keys, type TestR2 } from "../support.ts";
import type { Client, ClientName, S3Operations } from "./client.ts";

type PythonName = Extract<ClientName, "PyArrow" | "s3fs" | "DuckDB">;

export interface PythonClients {
  clients: Record<PythonName, Client>;
  stop(): Promise<void>;
}

/** PyArrow, s3fs and DuckDB, in one Python process that is told each call as a line of JSON and answers with a line. */
export async function startPythonClients(r2: TestR2): Promise<PythonClients> {
  const python = await pythonWithPackages();
  const script = join(process.cwd(), "tests/e2e/python/s3_clients.py");
  const child = spawn(python, ["-B", script, r2.url, lakehouse], {
    // Nothing of whoever runs the test may reach a client: neither its settings nor its credentials.
    env: { PATH: process.env["PATH"], HOME: r2.directory, AWS_EC2_METADATA_DISABLED: "true" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();

  /** One call at a time: the tests of the table wait for each. */
  async function call(client: PythonName, keys: Keys, operation: string, args: unknown[]): Promise<unknown> {
    child.stdin.write(`${JSON.stringify({ client, keys, operation, arguments: args })}\n`);
    const line = await lines.next();
    if (line.done) throw new Error("The Python process has ended; what it said is above.");
    const answer = JSON.parse(line.value) as { value: unknown } | { error: string; message: string };
    if ("value" in answer) return answer.value;
    throw Object.assign(new Error(answer.message), { name: answer.error });
  }

  const client = (name: PythonName): Client => ({
    with: (keys) =>
      new Proxy({} as S3Operations, {
        get:
          (_target, operation) =>
          (...args: unknown[]) =>
            call(name, keys, String(operation), args),
      }),
  });
  return {
    clients: { PyArrow: client("PyArrow"), s3fs: client("s3fs"), DuckDB: client("DuckDB") },
    async stop() {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}
