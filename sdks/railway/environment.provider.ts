import { z } from "zod";
import { UserError } from "../../clients/errors.ts";
import { waitFor } from "../../clients/retry.ts";
import { checkInputs, PartialFailure, type Provider } from "../../providers/provider.ts";
import { text } from "./inputs.schema.ts";
import * as api from "./environment.api.ts";
import { configure, railway, type Railway } from "./client/client.ts";
import { isRailwayError } from "./client/errors.ts";
import { makeOnce } from "./client/makeOnce.ts";

export interface EnvironmentInputs {
  name: string;
  projectId: string;
  sourceEnvironmentId?: string;
}

const schema = z.object({ name: text, projectId: text, sourceEnvironmentId: text.optional() });

const provider: Provider<EnvironmentInputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(_id, olds, news) {
    const replaces = (["projectId", "sourceEnvironmentId"] as const).filter((name) => olds[name] !== news[name]);
    return { changes: replaces.length > 0 || olds.name !== news.name, replaces };
  },

  async create(inputs) {
    const client = railway();
    const made = await findOrCreate(client, inputs);
    try {
      // It is not there at once for every query.
      await waitFor(
        async () => {
          const live = await api.readEnvironment(client, { ...inputs, id: made.id });
          return live === undefined ? { waiting: "Railway does not know it yet" } : { value: true };
        },
        {
          what: `environment "${inputs.name}" to be there`,
          deadlineSeconds: 60,
          remedy: "Running the command again continues from here.",
        },
      );
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      throw new PartialFailure(made.id, inputs, [error.message]);
    }
    return { id: made.id, outs: inputs };
  },

  async read(id, props) {
    const live = await api.readEnvironment(railway(), { ...props, id });
    return live === undefined ? {} : { id, props: { ...props, name: live.name } };
  },

  async update(id, olds, news) {
    const client = railway();
    const live = await api.readEnvironment(client, { ...olds, id });
    if (live === undefined) {
      throw new UserError(
        `Railway environment "${olds.name}" (${id}) is gone, so it cannot be changed. Run \`pulumi up --refresh\`, which makes a new one.`,
      );
    }
    if (live.name !== news.name) await api.renameEnvironment(client, id, news.name);
    return { outs: news };
  },

  async delete(id, props) {
    await api.deleteEnvironment(railway(), id, props.name);
  },
};

export default provider;

/** Railway is not known to refuse a name twice, so that it is looked for before, too. */
async function findOrCreate(client: Railway, inputs: EnvironmentInputs): Promise<api.LiveEnvironment> {
  const find = () => api.environmentNamed(client, inputs.projectId, inputs.name);
  const there = await find();
  if (there !== undefined) return adopted(there);
  return makeOnce(() => api.createEnvironment(client, inputs), find).catch(async (error: unknown) => {
    const other = isRailwayError(error, "conflict") ? await find() : undefined;
    if (other === undefined) throw error;
    return adopted(other);
  });
}

function adopted(live: api.LiveEnvironment): api.LiveEnvironment {
  console.log(`adopting the environment "${live.name}" (${live.id}), which is there already`);
  return live;
}
