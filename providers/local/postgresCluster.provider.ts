import { z } from "zod";
import { UserError } from "../../clients/errors.ts";
import { HOST } from "../../platforms/local/cluster.ts";
import { namingFullDisk } from "../../platforms/local/disk.ts";
import { deletePostgres, ensurePostgres, whyPostgresNotRunning } from "../../platforms/local/postgres.ts";
import { checkInputs, configure, PartialFailure, type Provider } from "../provider.ts";
import { differs, port } from "./inputs.ts";

export interface PostgresClusterInputs {
  state: string;
  port: number;
  superuserPassword: string;
  role: string;
  rolePassword: string;
  database: string;
  portRemedy?: string;
}

export interface PostgresClusterOutputs extends PostgresClusterInputs {
  url: string;
  systemIdentifier: string;
  pid: number;
  running: boolean;
}

const identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/, "must be a Postgres name of a-z, 0-9 and _");
const password = z.string().min(16, "must be 16 characters or more");

const schema = z.object({
  state: z.string().min(1, "must name a folder"),
  port,
  superuserPassword: password,
  role: identifier.refine((role) => role !== "postgres", "must not be the superuser"),
  rolePassword: password,
  database: identifier,
});

const secrets = ["superuserPassword", "rolePassword"];

function urlOf({ role, rolePassword, port, database }: PostgresClusterInputs): string {
  return `postgresql://${role}:${encodeURIComponent(rolePassword)}@${HOST}:${port}/${database}`;
}

async function ensured(inputs: PostgresClusterInputs): Promise<PostgresClusterOutputs> {
  const { pid, systemIdentifier } = await namingFullDisk(inputs.state, () => ensurePostgres(inputs));
  return { ...inputs, url: urlOf(inputs), systemIdentifier, pid, running: true };
}

const postgresCluster: Provider<PostgresClusterInputs, PostgresClusterOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news, { secrets });
  },

  async diff(_id, olds, news) {
    if (olds.state !== news.state) {
      throw new UserError(
        `The data of Postgres is in ${olds.state} and cannot move to ${news.state}. Keep the folder, or run "make down" first.`,
      );
    }
    if (differs(olds, news, ["port", "superuserPassword", "role", "rolePassword", "database"])) {
      return { changes: true };
    }
    const reason = await whyPostgresNotRunning(news);
    if (reason) console.log(`Postgres ${reason}: it is going to be started`);
    return { changes: reason !== undefined || !olds.running };
  },

  async create(inputs) {
    const id = "postgres";
    try {
      return { id, outs: await ensured(inputs) };
    } catch (error) {
      // There may be data by now, even a server: kept in state, it is brought in order by the next up or removed.
      const properties = { ...inputs, url: urlOf(inputs), systemIdentifier: "", pid: 0, running: false };
      throw new PartialFailure(id, properties, [error instanceof Error ? error.message : String(error)]);
    }
  },

  async read(id, props) {
    return { id, props: { ...props, running: (await whyPostgresNotRunning(props)) === undefined } };
  },

  async update(_id, _olds, news) {
    return { outs: await ensured(news) };
  },

  async delete(_id, { state }) {
    await deletePostgres(state);
  },
};

export default postgresCluster;
