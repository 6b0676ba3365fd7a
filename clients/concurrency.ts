/** Runs `work` over all items, at most `limit` at a time. Rejects with the first failure, after which none is begun. */
export async function forEachAtOnce<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  // A generator, because a loop that is left by an error closes it, and with it the loops beside.
  const queue = (function* () {
    yield* items;
  })();
  const runner = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, runner));
}
