import { Refusal } from "./errors.ts";

export interface PageArguments {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
}

export interface Page<Node> {
  readonly edges: { readonly cursor: string; readonly node: Node }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

/** How many come when nobody says; Railway documents no number. */
const USUAL = 20;

/** A page of a list after the one with the cursor, which is its id. */
export function page<Item extends { readonly id: string }, Node>(
  items: readonly Item[],
  { first, after, last, before }: PageArguments,
  node: (item: Item) => Node,
): Page<Node> {
  if (last != null || before != null) throw new Refusal("This emulator has no pages from the end: use first and after");
  const start = after == null ? 0 : items.findIndex(({ id }) => id === after) + 1;
  const shown = items.slice(start, start + (first ?? USUAL));
  return {
    edges: shown.map((item) => ({ cursor: item.id, node: node(item) })),
    pageInfo: {
      hasNextPage: start + shown.length < items.length,
      hasPreviousPage: start > 0,
      startCursor: shown[0]?.id ?? null,
      endCursor: shown.at(-1)?.id ?? null,
    },
  };
}
