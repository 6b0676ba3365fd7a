import pg from "pg";

/*
 * The real plugin talks to Postgres through Go's lib/pq, and its own words go in front of those of the library: `could
 * not delete role pp: pq: role "pp" cannot be dropped because some objects depend on it (2BP01)`.
 */

interface ConnectionSettings {
  host: string;
  port: number;
  username: string;
  password: string;
}

/** The error in lib/pq's words. */
export function explained(error: unknown, settings?: ConnectionSettings): Error {
  const text = settings === undefined ? textOf(error) : connectionText(error as NodeJS.ErrnoException, settings);
  return new Error(text, { cause: error });
}

function textOf(error: unknown): string {
  if (error instanceof pg.DatabaseError) return `pq: ${error.message} (${error.code})`;
  return error instanceof Error ? error.message : String(error);
}

function connectionText(error: NodeJS.ErrnoException, { host, port, username, password }: ConnectionSettings): string {
  const at = `${host}:${port}`;
  if (error.code === "ECONNREFUSED") return `dial tcp ${at}: connect: connection refused`;
  if (error.code === "ENOTFOUND") return `dial tcp: lookup ${host}: no such host`;
  if (error.message === "timeout expired") return `dial tcp ${at}: i/o timeout`;
  if (error.message === "The server does not support SSL connections") return "pq: SSL is not enabled on the server";
  // Without a password this client does not even ask the server.
  const text = error.message.startsWith("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password")
    ? `pq: password authentication failed for user "${username}" (28P01)`
    : textOf(error);
  return masked(text, password);
}

/** The real plugin hides the password in what it prints, twice, and so without one the gaps before two letters. */
function masked(text: string, password: string): string {
  if (password === "") return text.replace(/^(.)/, "XXXX$1XXXX");
  const [start = "", middle, ...rest] = text.split(password);
  if (middle === undefined) return start;
  return [`${start}XXXX${middle}`, ...(rest.length > 0 ? [rest.join(password)] : [])].join("XXXX");
}

/** Says of an error what was being done. */
export async function naming<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
}
