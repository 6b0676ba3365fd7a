import type { Account } from "../account.ts";
import type { Caller } from "../access.ts";
import type { Lookup } from "../customDomains.ts";
import type { Deployments } from "../deployments.ts";
import type { Network } from "../network.ts";
import type { Removal } from "../removal.ts";
import type { Views } from "../views.ts";

/** What resolvers work with. */
export interface Parts {
  readonly account: Account;
  readonly deployments: Deployments;
  readonly network: Network;
  readonly removal: Removal;
  readonly views: Views;
  /** Where custom domains are looked for. Without it none is verified by itself. */
  readonly lookup?: Lookup | undefined;
}

/** One field of Query or Mutation. The arguments have been checked against the schema, whose types they have. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Resolver = (args: any, caller: Caller) => unknown;

/** The same for whoever calls, also without a token that is known. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type RootResolver = (args: any, caller: Caller | undefined) => unknown;

export type Resolvers = (parts: Parts) => Record<string, Resolver>;
