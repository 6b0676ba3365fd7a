import { z } from "zod";
import { clock, waitFor } from "../clients/retry.ts";
import { checkInputs, configure, type Provider } from "./provider.ts";

export interface CredentialOverlapState {
  credential: string;
  seconds: number;
}

const schema = z.object({ credential: z.string(), seconds: z.int().min(0, "must be 0 or more seconds") });

/** A run that is killed in here begins to wait anew: when the credential was stored is not written down anywhere. */
async function outwait(seconds: number): Promise<void> {
  const end = clock.now() + seconds * 1_000;
  await waitFor(
    () => {
      const left = Math.ceil((end - clock.now()) / 1_000);
      return Promise.resolve(left <= 0 ? { value: true } : { waiting: `${left} s more` });
    },
    {
      what: "the last credentials vended from the earlier token to expire, before that is deleted",
      deadlineSeconds: seconds + 60,
      remedy: "Run the command again.",
    },
  );
}

const credentialOverlap: Provider<CredentialOverlapState> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(_id, olds, news) {
    return { changes: olds.credential !== news.credential || olds.seconds !== news.seconds };
  },

  /** The first credential has none before it. */
  async create(inputs) {
    return { id: "overlap", outs: inputs };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, olds, news) {
    // What was vended lives as long as it was promised then.
    if (olds.credential !== news.credential) await outwait(Math.max(olds.seconds, news.seconds));
    return { outs: news };
  },

  async delete() {},
};

export default credentialOverlap;
