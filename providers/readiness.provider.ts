import { request } from "undici";
import { z } from "zod";
import { type Look, waitFor } from "../clients/retry.ts";
import { checkInputs, configure, type Provider } from "./provider.ts";

export interface ReadinessState {
  uri: string;
  instance: string;
  timeoutSeconds: number;
}

const schema = z.object({
  uri: z.url({ protocol: /^https?$/, error: "must be the http(s) address of Lakekeeper" }),
  instance: z.string(),
  timeoutSeconds: z.int().min(1, "must be 1 or more seconds"),
});

/** `/health` is 503 while Lakekeeper's database is out of reach and in its first moments; nothing answers before that. */
async function health(uri: string): Promise<Look<true>> {
  try {
    const answer = await request(`${uri}/health`, { signal: AbortSignal.timeout(10_000) });
    const text = await answer.body.text();
    if (answer.statusCode === 200) return { value: true };
    return { waiting: `GET ${uri}/health answers ${answer.statusCode} ${text.slice(0, 300)}` };
  } catch (error) {
    return { waiting: `GET ${uri}/health: ${(error as Error).message}` };
  }
}

async function untilReady({ uri, timeoutSeconds }: ReadinessState): Promise<void> {
  await waitFor(() => health(uri), {
    what: `Lakekeeper at ${uri}`,
    deadlineSeconds: timeoutSeconds,
    everyMilliseconds: 250,
    remedy: "Look at the log of its service, then run up again.",
  });
}

const readiness: Provider<ReadinessState> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(_id, olds, news) {
    return { changes: olds.uri !== news.uri || olds.instance !== news.instance };
  },

  async create(inputs) {
    await untilReady(inputs);
    return { id: inputs.uri, outs: inputs };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, _olds, news) {
    await untilReady(news);
    return { outs: news };
  },

  async delete() {},
};

export default readiness;
