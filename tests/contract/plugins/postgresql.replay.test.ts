import { postgresqlPlugin } from "../../../emulators/plugins/postgresql/plugin.ts";
import type { Properties } from "../../../emulators/plugins/protocol.ts";
import { freePort } from "../../../platforms/local/ports.ts";
import { startLoggedPostgres, type LoggedPostgres, type Statement } from "./loggedPostgres.ts";
import { handwork } from "./postgresqlHandwork.ts";
import { recordedSteps, recordingsPresent, type RecordedCall, type RecordedStep } from "./recording.ts";
import { answerOf, comparable, isAnswered, recordedAnswer } from "./replay.ts";

/*
 * The stand-in is called as the engine called the real plugin (3.18.1), on a Postgres in the state that the recorded
 * one had, and has to answer the same, send the same statements in the same order, and print the same.
 */

interface PostgresqlStep extends RecordedStep {
  /** What the server logged: statements, and what it said of them. */
  sql_sent: (Statement | { conn: string; error: string })[];
}

/** How many calls each recording has at least. Steps without any are left out; nothing else is. */
const recordings: Record<string, number> = {
  role: 52,
  database: 75,
  extension: 48,
  grant: 171,
  more: 127,
  "import-misc": 18,
  "limited-user": 77,
  provider: 59,
};

const replay = recordingsPresent ? describe : describe.skip;

let postgres: LoggedPostgres;
let closedPort: number;

beforeAll(async () => {
  postgres = await startLoggedPostgres();
  closedPort = await freePort();
  await postgres.run("CREATE ROLE admin LOGIN SUPERUSER PASSWORD '<secret>'");
}, 120_000);

afterAll(() => postgres.stop());

beforeEach(() => postgres.empty());

replay.each(Object.entries(recordings))("the recording %s", (recording, least) => {
  test("is what the stand-in does", async () => {
    const ports = { "5499": String(postgres.port), "5498": String(closedPort) };
    let args: Properties = {};
    let calls = 0;
    for (const step of recordedSteps<PostgresqlStep>(`postgresql-${recording}`, ports)) {
      const name = `${recording}/${step.step}`;
      for (const [database, sql] of handwork[name] ?? []) await postgres.run(sql, database);
      args = providerArgs(step) ?? args;
      const { actual, expected } = await replayed(step, args);
      expect({ step: step.step, ...actual }).toEqual({ step: step.step, ...expected });
      calls += expected.calls.length;
    }
    expect(calls).toBeGreaterThanOrEqual(least);
  }, 120_000);
});

/** What the step's provider was configured with, if that was recorded anew. */
function providerArgs({ provider_calls: calls }: PostgresqlStep): Properties | undefined {
  const last = calls.findLast(({ method }) => method === "CheckConfig" || method === "Configure");
  return (last?.request["args"] ?? last?.response?.["inputs"]) as Properties | undefined;
}

interface Outcome {
  calls: unknown[];
  sql: string[];
  /** The databases that were connected to, with their users. */
  connected: string[];
  printed: string[];
}

async function replayed(step: PostgresqlStep, args: Properties): Promise<{ actual: Outcome; expected: Outcome }> {
  const printed: string[] = [];
  const isOfEnvironment = Object.keys(args).every((name) => name === "version");
  const plugin = postgresqlPlugin({
    version: "3.18.1",
    log: async (severity, message) => void printed.push(`${severity}: ${message}`),
    environment: isOfEnvironment ? environment() : {},
  });
  plugin.configure({ args: hidden(args, step) });
  await postgres.statements();
  const recorded = step.provider_calls.filter(isAnswered);
  const calls: unknown[] = [];
  const sent: Statement[][] = [];
  for (const call of recorded) {
    calls.push(normalized(await answerOf(plugin, call.method, given(call, step))));
    sent.push(await postgres.statements());
  }
  const expected = step.sql_sent.filter((each): each is Statement => "sql" in each);
  const lines = step.output.map((line) => line.trim()).filter((line) => line.startsWith("error:   sdk-v2/"));
  return {
    actual: {
      calls,
      sql: interleaved(sent, expected),
      ...connectedIn(sent.flat()),
      printed: [...new Set(printed.map(named))].sort(),
    },
    expected: {
      calls: recorded.map((call) => normalized(recordedAnswer(call))),
      sql: work(expected),
      ...connectedIn(expected),
      printed: [...new Set(lines.map(named))].sort(),
    },
  };
}

function environment(): Record<string, string> {
  return {
    PGHOST: "127.0.0.1",
    PGPORT: String(postgres.port),
    PGUSER: "admin",
    PGPASSWORD: "<secret>",
    PGSSLMODE: "disable",
  };
}

/** The arguments of a provider with the password that the recording hides. */
function hidden(args: Properties, { step }: PostgresqlStep): Properties {
  return step === "wrong-password" && "password" in args ? { ...args, password: "another" } : args;
}

/** A call with passwords of before that are others, where the recording hides how they changed. */
function given(call: RecordedCall, step: PostgresqlStep): unknown {
  const { method, request } = call;
  if (method === "Configure") return { ...request, args: hidden(request["args"] as Properties, step) };
  const { olds, news } = request as { olds?: Properties; news?: Properties };
  const isOf = ({ method: other, request: { urn } }: RecordedCall): boolean =>
    (other === "Diff" || other === "DiffConfig") && urn === request["urn"];
  const response = step.provider_calls.find(isOf)?.response as { detailedDiff?: Record<string, object> } | undefined;
  const change = response?.detailedDiff?.["password"];
  if (change === undefined || olds?.["password"] === undefined || news?.["password"] === undefined) return request;
  return { ...request, olds: { ...olds, password: "kind" in change ? "the one before" : null } };
}

/**
 * The statements of the calls in the order in which the recorded server got them, when it is one in which calls at the
 * same time could have sent them: all of them, and those of each call in its own order. Otherwise one call after the
 * other.
 */
function interleaved(sent: Statement[][], recorded: Statement[]): string[] {
  const [calls, order] = [sent.map(work), work(recorded)];
  const areAll = JSON.stringify(calls.flat().sort()) === JSON.stringify([...order].sort());
  return areAll && calls.every((call) => isPartOf(call, order)) ? order : calls.flat();
}

function isPartOf(call: string[], order: string[]): boolean {
  let at = 0;
  for (const statement of order) if (statement === call[at]) at++;
  return at === call.length;
}

/** The statements but those with which a connection begins: the real plugin repeats them at random. */
function work(statements: Statement[]): string[] {
  return statements.filter((each) => !isGreeting(each)).map(({ conn, sql }) => `${conn} ${plain(sql)}`);
}

function connectedIn(statements: Statement[]): { connected: string[] } {
  const greetings = statements.filter(isGreeting).map(({ conn, sql }) => `${conn} ${sql}`);
  return { connected: [...new Set(greetings)].sort() };
}

function isGreeting({ sql }: Statement): boolean {
  return sql === ";" || sql === "SELECT VERSION()";
}

/** A statement without what depends on the server: numbers of roles, and how Postgres 16 and later know members. */
function plain(sql: string): string {
  return sql
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(" AND set_option", "")
    .replaceAll(/'\d{4,}'/g, "'<oid>'");
}

/**
 * An answer without what depends on the server: its locale, its versions of extensions, the name server. The real
 * plugin names the changes of a provider in an order that is random.
 */
function normalized(answer: unknown): unknown {
  const plainText = JSON.stringify(comparable(answer, ["password", "passwordWo"]), (key, value: unknown) => {
    if (key === "lcCollate" || key === "lcCtype") return value === "C" ? "C.UTF-8" : value;
    if (key === "version" && typeof value === "string" && /^\d\.\d$/.test(value)) return "<version>";
    return key === "diffs" ? [...(value as string[])].sort() : value;
  });
  const parsed = JSON.parse(named(plainText ?? "{}")) as Properties;
  return withoutNothing(parsed);
}

/** As the engine's log writes answers: without what is empty. */
function withoutNothing(answer: Properties): Properties {
  const isEmptyObject = (value: unknown): boolean =>
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => !isEmptyObject(value)));
}

function named(text: string): string {
  return text
    .replaceAll(/ on [\d.]+:53/g, "")
    .replaceAll("invalid LC_COLLATE locale name", "invalid locale name")
    .replaceAll(/autonamed-[0-9a-f]{7}/g, "autonamed-<digits>");
}
