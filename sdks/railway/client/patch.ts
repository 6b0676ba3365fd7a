import { z } from "zod";
import { UserError } from "../../../clients/errors.ts";
import type { Operation, Railway } from "./client.ts";
import { Limit } from "./limit.ts";

const stagedQuery: Operation<{ environment: { unmergedChangesCount?: number | null | undefined } }> = {
  document: "query unmergedChanges($id: String!) { environment(id: $id) { unmergedChangesCount } }",
  data: z.object({ environment: z.object({ unmergedChangesCount: z.number().nullish() }) }),
};

const commit: Operation<{ environmentPatchCommit: string }> = {
  document: `mutation environmentPatchCommit($environmentId: String!, $patch: EnvironmentConfig!, $message: String) {
    environmentPatchCommit(environmentId: $environmentId, patch: $patch, commitMessage: $message)
  }`,
  data: z.object({ environmentPatchCommit: z.string() }),
};

/** One patch of an environment at a time: two at once could overwrite each other. */
const turns = new Map<string, Limit>();

/**
 * Commits a patch of an environment's configuration. Refuses while a person has staged changes there: those would be
 * deployed with it. Setting the same twice does no harm, so it is sent again after an open outcome.
 *
 * @param patch a part of the EnvironmentConfig, as in Railway's public schema; null removes.
 */
export async function commitPatch(
  client: Railway,
  environmentId: string,
  patch: object,
  options: { of: string; message: string },
): Promise<void> {
  const turn = turns.get(environmentId) ?? new Limit(1);
  turns.set(environmentId, turn);
  await turn.run(async () => {
    const { environment } = await client.query(stagedQuery, { id: environmentId }, options);
    const staged = environment.unmergedChangesCount ?? 0;
    if (staged > 0) {
      throw new UserError(
        `Railway environment ${environmentId} has ${staged} staged changes that somebody has not deployed yet; ` +
          `a change of ${options.of} would deploy them too, so it was not made. Deploy or discard them on railway.com, then run the command again.`,
      );
    }
    const { message } = options;
    await client.mutateRepeatably(commit, { environmentId, patch, message }, options);
  });
}
