import { notAuthorized } from "../errors.ts";
import { deployments } from "./deployments.ts";
import { environments } from "./environments.ts";
import { networking } from "./networking.ts";
import { patches } from "./patches.ts";
import { projects } from "./projects.ts";
import type { Parts, Resolver, RootResolver } from "./resolvers.ts";
import { services } from "./services.ts";
import { tokens } from "./tokens.ts";
import { variables } from "./variables.ts";
import { volumes } from "./volumes.ts";

const GROUPS = [tokens, projects, environments, services, variables, volumes, networking, deployments, patches];

/** All root fields, as the execution calls them: with their arguments and whoever asks, who must be somebody. */
export function resolversOf(parts: Parts): Record<string, RootResolver> {
  const resolvers = Object.assign({}, ...GROUPS.map((group) => group(parts))) as Record<string, Resolver>;
  const { store } = parts.account;
  return Object.fromEntries(
    Object.entries(resolvers).map(([name, resolve]): [string, RootResolver] => [
      name,
      (args, caller) => {
        if (caller === undefined) throw notAuthorized("UNAUTHENTICATED");
        return store.atomically(() => resolve(args, caller));
      },
    ]),
  );
}
