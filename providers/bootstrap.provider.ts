import { z } from "zod";
import { UserError } from "../clients/errors.ts";
import { HttpError, Unreachable } from "../clients/http.ts";
import { Lakekeeper, withCatalog, type ServerInfo } from "../clients/lakekeeper.ts";
import { connectionSchema, type Connection } from "../clients/token.ts";
import { BRIEFLY, readOrKeep } from "./catalog.ts";
import { checkInputs, configure, hasUnknown, type Provider } from "./provider.ts";
import { sameValue } from "./sameValue.ts";

export interface BootstrapInputs {
  connection: Connection;
  authorization?: "openfga";
}

export interface BootstrapOutputs extends BootstrapInputs {
  serverId: string;
  version: string;
}

const schema = z.object({
  connection: connectionSchema,
  authorization: z.literal("openfga", { error: "must be openfga" }).optional(),
});

const ALREADY_DONE = new Set(["CatalogAlreadyBootstrapped", "ConcurrentBootstrap"]);

async function bootstrap(inputs: BootstrapInputs, olds?: BootstrapOutputs): Promise<BootstrapOutputs> {
  const { connection, authorization } = inputs;
  return withCatalog(connection, async (http) => {
    const lakekeeper = new Lakekeeper(http);
    const info = await lakekeeper.info();
    if (olds !== undefined) {
      refuseOtherServer(connection, olds.serverId, info);
      refuseLateAuthorization(inputs, olds, info);
    }
    refuseOtherBackend(inputs, info);
    if (!info.bootstrapped) {
      await lakekeeper.bootstrap(authorization === "openfga").catch((error: unknown) => {
        if (!(error instanceof HttpError && ALREADY_DONE.has(error.type ?? ""))) throw error;
      });
    }
    return { ...inputs, serverId: info["server-id"], version: info.version };
  });
}

function refuseOtherServer(connection: Connection, expected: string, info: ServerInfo): void {
  if (info["server-id"] === expected) return;
  throw new UserError(
    `Lakekeeper at ${connection.uri} has the server id ${info["server-id"]}, but this stack bootstrapped ${expected}: its database is another one now. ` +
      "Nothing in it was changed. Point Lakekeeper back at the database it had (or restore its backup). If the new database is meant, " +
      "take this resource and what depends on it out of the state (`pulumi state delete --target-dependents <its URN>`) and run `pulumi up`.",
  );
}

/** Seen before anything is allowed or refused by it: a server with another backend was started with other settings. */
function refuseOtherBackend({ connection, authorization = "allow-all" }: BootstrapInputs, info: ServerInfo): void {
  const { "authz-backend": backend = authorization } = info;
  if (backend === authorization) return;
  throw new UserError(
    `Lakekeeper at ${connection.uri} authorizes by ${backend}, and lakekeeper:authz is ${authorization}. ` +
      "It has not been started with this stack's settings: run the command again, and see LAKEKEEPER__AUTHZ_BACKEND in its environment.",
  );
}

/** OpenFGA is told of everything when it is made; of what was there before, and of an operator, it knows nothing. */
function refuseLateAuthorization(news: BootstrapInputs, olds: BootstrapInputs, info: ServerInfo): void {
  if (news.authorization === undefined || olds.authorization === news.authorization || !info.bootstrapped) return;
  throw new UserError(
    `lakekeeper:authz is ${news.authorization}, but Lakekeeper at ${news.connection.uri} was bootstrapped without it: nobody could do anything any more. ` +
      "Set it back to allow-all. To have it all the same, first run `lakekeeper migrate`, `lakekeeper openfga reconcile --mode add-missing` and " +
      "`lakekeeper reopen-bootstrap --yes` on its database, with LAKEKEEPER__AUTHZ_BACKEND=openfga and LAKEKEEPER__OPENFGA__* in the environment.",
  );
}

const provider: Provider<BootstrapInputs, BootstrapOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news, { secrets: ["connection"] });
  },

  async diff(_id, olds, news) {
    if (hasUnknown(news.connection)) return { changes: true };
    const info = await infoIfItAnswers(news.connection);
    if (info !== undefined) {
      refuseOtherServer(news.connection, olds.serverId, info);
      refuseLateAuthorization(news, olds, info);
    }
    const upToDate = info === undefined || (info.bootstrapped && info.version === olds.version);
    const isSame = sameValue(olds.connection, news.connection) && olds.authorization === news.authorization;
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
          const info = await new Lakekeeper(http).info();
          refuseOtherServer(props.connection, props.serverId, info);
          // One that waits for its bootstrap again is as good as new.
          return info.bootstrapped ? { id, props: { ...props, version: info.version } } : {};
        },
        BRIEFLY,
      ),
    );
  },

  async update(_id, olds, news) {
    return { outs: await bootstrap(news, olds) };
  },

  /** There is no way back to a server that was never bootstrapped. */
  async delete() {},
};

export default provider;

/** A preview must not fail because the server is down or does not know the new signing key yet. */
async function infoIfItAnswers(connection: Connection): Promise<ServerInfo | undefined> {
  try {
    return await withCatalog(connection, (http) => new Lakekeeper(http).info(), { attempts: 1 });
  } catch (error) {
    if (error instanceof Unreachable || error instanceof HttpError) return undefined;
    throw error;
  }
}
