import { requireProject } from "../access.ts";
import { Refusal } from "../errors.ts";
import type { Environment, Instance } from "../model.ts";
import { rendered, systemVariables } from "../variables.ts";
import type { Resolvers } from "./resolvers.ts";

interface Place {
  readonly projectId: string;
  readonly environmentId: string;
  readonly serviceId?: string | null;
}

export const variables: Resolvers = ({ account, deployments }) => {
  /** The variables of a service, or those that all services of an environment share. */
  function open(place: Place): { all: Record<string, string>; instance?: Instance; environment: Environment } {
    const environment = account.environmentIn(place.projectId, place.environmentId);
    if (place.serviceId == null) return { all: environment.sharedVariables, environment };
    account.service(place.serviceId);
    const instance = account.instance(place.serviceId, place.environmentId);
    return { all: instance.variables, instance, environment };
  }

  function keep({ instance, environment }: ReturnType<typeof open>, skipDeploys: boolean | null | undefined): void {
    if (instance === undefined) account.store.save("environments", environment);
    else {
      instance.sealed = instance.sealed.filter((name) => name in instance.variables);
      account.store.save("instances", instance);
    }
    if (skipDeploys === true) return;
    const affected = instance === undefined ? account.store.list("instances") : [instance];
    for (const one of affected) {
      if (one.environmentId === environment.id && one.settings.source?.image != null) deployments.deploy(one);
    }
  }

  return {
    variables({ unrendered, ...place }: Place & { unrendered?: boolean | null }, caller) {
      requireProject(caller, place.projectId, place.environmentId);
      const { all, instance } = open(place);
      if (instance === undefined) return all;
      const shown =
        unrendered === true ? { ...all, ...systemVariables(account, instance) } : rendered(account, instance);
      return Object.fromEntries(Object.entries(shown).filter(([name]) => !instance.sealed.includes(name)));
    },

    variableCollectionUpsert(
      {
        input,
      }: {
        input: Place & { variables: Record<string, string>; replace?: boolean | null; skipDeploys?: boolean | null };
      },
      caller,
    ) {
      requireProject(caller, input.projectId, input.environmentId);
      const opened = open(input);
      if (input.replace === true) {
        for (const name of Object.keys(opened.all)) delete opened.all[name];
        if (opened.instance !== undefined) opened.instance.sealed = [];
      }
      Object.assign(opened.all, input.variables);
      keep(opened, input.skipDeploys);
      return true;
    },

    variableUpsert(
      { input }: { input: Place & { name: string; value: string; skipDeploys?: boolean | null } },
      caller,
    ) {
      requireProject(caller, input.projectId, input.environmentId);
      const opened = open(input);
      opened.all[input.name] = input.value;
      keep(opened, input.skipDeploys);
      return true;
    },

    /** Not idempotent, and always deploys. */
    variableDelete({ input }: { input: Place & { name: string } }, caller) {
      requireProject(caller, input.projectId, input.environmentId);
      const opened = open(input);
      if (!(input.name in opened.all)) throw new Refusal("Variable not found");
      delete opened.all[input.name];
      keep(opened, false);
      return true;
    },
  };
};
