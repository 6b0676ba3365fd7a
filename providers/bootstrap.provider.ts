import { z } from "zod";
import { NoAnswer, UserError } from "../clients/errors.ts";
import { HttpError } from "../clients/http.ts";
import { Lakekeeper, withCatalog, type Assignment, type ServerInfo } from "../clients/lakekeeper.ts";
import { connectionSchema, type Connection } from "../clients/token.ts";
import { BRIEFLY, readOrKeep } from "./catalog.ts";
import { checkFailure, checkInputs, configure, hasUnknown, isUnknown, type Provider } from "./provider.ts";
import { sameValue } from "./sameValue.ts";

interface Authorization {
  operator: string;
  endpoint: string;
  storeName: string;
}

export interface BootstrapInputs {
  connection: Connection;
  /** Undefined where everybody may do everything. */
  authorization?: Authorization;
  /** Whose tokens are taken, the provider in use first. Absent in the state of an older release. */
  issuers?: string[];
}

export interface BootstrapOutputs extends BootstrapInputs {
  serverId: string;
  version: string;
}

const text = z.string("must be a text").min(1, "must not be empty");

const schema = z.object({
  connection: connectionSchema,
  authorization: z.object({ operator: text, endpoint: text, storeName: text }).optional(),
  issuers: z.array(text).optional(),
});

const ALREADY_DONE = new Set(["CatalogAlreadyBootstrapped", "ConcurrentBootstrap"]);

const backendOf = ({ authorization }: BootstrapInputs) => (authorization === undefined ? "allow-all" : "openfga");

async function bootstrap(inputs: BootstrapInputs, expectedServerId?: string): Promise<BootstrapOutputs> {
  const { connection, authorization } = inputs;
  return withCatalog(connection, async (http) => {
    const lakekeeper = new Lakekeeper(http);
    const info = await lakekeeper.info();
    if (expectedServerId !== undefined) refuseOtherServer(connection, expectedServerId, info);
    refuseOtherBackend(inputs, info);
    if (!info.bootstrapped) {
      await lakekeeper.bootstrap(authorization !== undefined).catch((error: unknown) => {
        if (!(error instanceof HttpError && ALREADY_DONE.has(error.type ?? ""))) throw error;
      });
    }
    if (authorization !== undefined) await requireOperator(lakekeeper, connection, authorization);
    return { ...inputs, serverId: info["server-id"], version: info.version };
  });
}

function refuseOtherBackend(inputs: BootstrapInputs, info: ServerInfo): void {
  const [wanted, actual] = [backendOf(inputs), info["authz-backend"]];
  if (actual === wanted) return;
  throw new UserError(
    `Lakekeeper at ${inputs.connection.uri} decides who may do what by ${actual}, but lakekeeper:authz.mode is ${wanted}. Nothing in it was changed. ` +
      "See that what serves there is what this stack has started, with the LAKEKEEPER__AUTHZ_BACKEND that it was given.",
  );
}

/** Whoever bootstraps becomes operator. A server that was bootstrapped before, or has another store, may know another. */
async function requireOperator(lakekeeper: Lakekeeper, connection: Connection, authorization: Authorization) {
  const { operator, storeName } = authorization;
  const known = await ifAllowed(lakekeeper.serverAssignments());
  if (known.some(({ type, user }) => type === "operator" && user === operator)) return;
  throw new UserError(
    `${operator} is not operator of Lakekeeper at ${connection.uri}, by what OpenFGA's store "${storeName}" says, so this stack cannot run it. ` +
      "Set lakekeeper:authz back to the OpenFGA and the store that the server was bootstrapped with; or have its operator " +
      `make it one: POST /management/v1/permissions/server/assignments {"writes":[{"type":"operator","user":"${operator}"}]}`,
  );
}

async function ifAllowed(assignments: Promise<Assignment[]>): Promise<Assignment[]> {
  return assignments.catch((error: unknown) => {
    if (error instanceof HttpError && error.status === 403) return [];
    throw error;
  });
}

/** What a server with tables in it does not survive: Lakekeeper keeps its permissions in the store and nowhere else. */
function refusedChange(olds: Partial<BootstrapInputs>, news: BootstrapInputs): string | undefined {
  if (olds.connection === undefined) return undefined;
  const [before, after] = [backendOf(olds as BootstrapInputs), backendOf(news)];
  if (before !== after) {
    return (
      `lakekeeper:authz.mode cannot go from ${before} to ${after} once the server has been bootstrapped: ` +
      (after === "openfga"
        ? "OpenFGA would know neither of what is there nor of an operator, and nobody could do anything any more. "
        : "every valid token would be an administrator's, and OpenFGA would not hear of what is made from then on. ") +
      `Set lakekeeper:authz.mode back to ${before}; docs/operations.md tells how it is changed (Permissions by OpenFGA)`
    );
  }
  const [from, to] = [olds.authorization?.storeName, news.authorization?.storeName];
  if (from === to || isUnknown(to)) return undefined;
  return (
    `lakekeeper:authz.storeName cannot go from "${from}" to "${to}" once the server has been bootstrapped: its permissions ` +
    `are in that store. Set lakekeeper:authz.storeName back to "${from}"`
  );
}

/** What clients notice of another provider of tokens, as long as some are asked for at all. */
function endOfTokens(olds: Partial<BootstrapInputs>, news: BootstrapInputs): string | undefined {
  const [dropped] = olds.issuers ?? [];
  const { issuers = [], authorization } = news;
  if (dropped === undefined || issuers.length === 0 || issuers.includes(dropped)) return undefined;
  const end = `tokens of ${dropped} that clients have end with this up: give them the new ones at once`;
  return authorization === undefined
    ? `${end}, or keep the old ones valid for a while with lakekeeper:auth.previous (mode, until, issuerUrl)`
    : end;
}

function refuseOtherServer(connection: Connection, expected: string, info: ServerInfo): void {
  if (info["server-id"] === expected) return;
  throw new UserError(
    `Lakekeeper at ${connection.uri} has the server id ${info["server-id"]}, but this stack bootstrapped ${expected}: its database is another one now. ` +
      "Nothing in it was changed. Point Lakekeeper back at the database it had (or restore its backup). If the new database is meant, " +
      "take this resource and what depends on it out of the state (`pulumi state delete --target-dependents <its URN>`) and run `pulumi up`.",
  );
}

const provider: Provider<BootstrapInputs, BootstrapOutputs> = {
  configure,

  async check(olds, news) {
    const result = checkInputs(schema, news, { secrets: ["connection"] });
    const refused = refusedChange(olds, news);
    if (refused !== undefined) result.failures.push(checkFailure(refused));
    const warning = endOfTokens(olds, news);
    if (warning !== undefined) console.log(warning);
    return result;
  },

  async diff(_id, olds, news) {
    if (hasUnknown(news)) return { changes: true };
    await refuseOtherOperator(olds, news);
    const info = await ifItAnswers(news.connection, (lakekeeper) => lakekeeper.info());
    if (info !== undefined) refuseOtherServer(news.connection, olds.serverId, info);
    // A server with another backend may just be about to be started anew, so that is judged after it.
    const upToDate =
      info === undefined ||
      (info.bootstrapped && info.version === olds.version && info["authz-backend"] === backendOf(news));
    const isSame = sameValue([olds.connection, olds.authorization], [news.connection, news.authorization]);
    return { changes: !upToDate || !isSame };
  },

  async create(inputs) {
    const outs = await bootstrap(inputs);
    return { id: outs.serverId, outs };
  },

  async read(id, props) {
    return readOrKeep(id, props, () =>
      withCatalog(
        props.connection,
        async (http) => {
          const lakekeeper = new Lakekeeper(http);
          const info = await lakekeeper.info();
          refuseOtherServer(props.connection, props.serverId, info);
          // One that waits for its bootstrap again is as good as new.
          if (!info.bootstrapped) return {};
          // To somebody who may not see them, warehouses and tables look as if they were gone: nothing may come of that.
          if (props.authorization !== undefined) {
            await requireOperator(lakekeeper, props.connection, props.authorization);
          }
          return { id, props: { ...props, version: info.version } };
        },
        BRIEFLY,
      ),
    );
  },

  async update(_id, olds, news) {
    return { outs: await bootstrap(news, olds.serverId) };
  },

  /** There is no way back to a server that was never bootstrapped. */
  async delete() {},
};

export default provider;

/** Before the server believes another provider, whose deployer may be somebody of whom it knows nothing. */
async function refuseOtherOperator({ connection, authorization: before }: BootstrapOutputs, news: BootstrapInputs) {
  const { authorization } = news;
  if (before === undefined || authorization === undefined || before.operator === authorization.operator) return;
  await ifItAnswers(connection, (lakekeeper) => requireOperator(lakekeeper, connection, authorization));
}

/** Neither a preview nor a refresh must fail because the server is down or does not know the new signing key yet. */
async function ifItAnswers<T>(
  connection: Connection,
  work: (lakekeeper: Lakekeeper) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await withCatalog(connection, (http) => work(new Lakekeeper(http)), { attempts: 1 });
  } catch (error) {
    if (error instanceof NoAnswer || error instanceof HttpError) return undefined;
    throw error;
  }
}
