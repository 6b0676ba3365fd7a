import { aws4fetch } from "./clients/aws4fetch.ts";
import { awsSdk } from "./clients/awsSdk.ts";
import type { Client, ClientName, S3Operations } from "./clients/client.ts";
import { startPythonClients, type PythonClients } from "./clients/python.ts";
import { lacks, refused, works, type Row } from "./clients/rows.ts";
import { startWorld, type World } from "./clients/world.ts";

// Operations x clients: what each client of S3 gets from the emulator, and in which words it reports each refusal.

const names = Object.keys(lacks) as ClientName[];
/** What came of each row with each client. */
const table: Record<string, Partial<Record<ClientName, string>>> = {};

let world: World;
let python: PythonClients;
let clients: Record<ClientName, Client>;

beforeAll(async () => {
  world = await startWorld();
  python = await startPythonClients(world.r2);
  clients = { "AWS SDK v3": awsSdk(world.r2), aws4fetch: aws4fetch(world.r2), ...python.clients };
}, 300_000);

afterAll(async () => {
  await python.stop();
  await world.r2.stop();
  printTable();
});

function run({ what, keys, run }: Row, name: ClientName): Promise<unknown> {
  const s3: S3Operations = clients[name].with(world.credentials[keys]);
  return run(s3, `${what} ${name}`.replaceAll(/[ ,]+/g, "-"), world.send);
}

describe.each(names)("%s", (name) => {
  const isOffered = ({ needs }: Row): boolean => !needs.some((operation) => lacks[name].includes(operation));

  test.each(works.filter(isOffered))("can $what", async (row) => {
    expect(await run(row, name)).toEqual(row.gives);
    note(row, name, "ok");
  });

  test.each(refused.filter(isOffered))("is refused: $what", async (row) => {
    const outcome = await run(row, name).then(
      (value) => `accepted: ${JSON.stringify(value)}`,
      (error: Error) => `${error.name}: ${error.message}`,
    );
    expect(outcome).toMatch(row.with[name]!);
    note(row, name, outcome.split(":")[0]!);
  });
});

function note({ what }: Row, name: ClientName, outcome: string): void {
  (table[what] ??= {})[name] = outcome;
}

/** The table of what ran: ok, or the name of the error with which the client reports the refusal. */
function printTable(): void {
  const line = (cells: string[]): string => cells.map((cell, index) => cell.padEnd(index === 0 ? 30 : 26)).join("");
  const rows = [...works, ...refused].map(({ what }) =>
    line([what, ...names.map((name) => table[what]?.[name] ?? "-")]),
  );
  process.stdout.write(`${[line(["", ...names]), ...rows].map((row) => row.trimEnd()).join("\n")}\n`);
}
