import { z } from "zod";

/** Railway's page size when none is asked for is not documented, so it always is. */
export const PAGE = 100;

const pageInfo = z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() });

export interface Connection<Node> {
  readonly edges: { readonly node: Node }[];
  readonly pageInfo: z.infer<typeof pageInfo>;
}

/** The shape of a page of nodes. */
export function connection<Node>(node: z.ZodType<Node>): z.ZodType<Connection<Node>> {
  return z.object({ edges: z.array(z.object({ node })), pageInfo });
}

/** The cursor of the page after this one; undefined at the end, and when it does not advance. */
export function nextCursor(page: Connection<unknown>, cursor: string | undefined): string | undefined {
  const { hasNextPage, endCursor } = page.pageInfo;
  return hasNextPage && endCursor != null && endCursor !== cursor ? endCursor : undefined;
}

/** All nodes, page by page. */
export async function allNodes<Node>(read: (after: string | undefined) => Promise<Connection<Node>>): Promise<Node[]> {
  const nodes: Node[] = [];
  let after: string | undefined;
  do {
    const page = await read(after);
    nodes.push(...page.edges.map(({ node }) => node));
    after = nextCursor(page, after);
  } while (after !== undefined);
  return nodes;
}
