import { z } from "zod";
import { HttpError, type HttpClient } from "../clients/http.ts";
import { Lakekeeper, withCatalog, type Assignment } from "../clients/lakekeeper.ts";
import { connectionSchema, type Connection } from "../clients/token.ts";
import { BRIEFLY, readOrKeep } from "./catalog.ts";
import { checkInputs, configure, hasUnknown, type Provider } from "./provider.ts";
import { sameValue } from "./sameValue.ts";

export interface GrantsInputs {
  connection: Connection;
  warehouse: string;
  warehouseId: string;
  assignments: Assignment[];
}

export interface GrantsOutputs extends GrantsInputs {
  owned: Assignment[];
}

/** Of a warehouse: https://docs.lakekeeper.io/docs/latest/authorization-openfga/ */
const RELATIONS = ["ownership", "pass_grants", "manage_grants", "describe", "select", "create", "modify"] as const;

const schema = z.object({
  connection: connectionSchema,
  warehouse: z.string(),
  warehouseId: z.string(),
  assignments: z
    .array(
      z.object({
        type: z.enum(RELATIONS, { error: `must be one of ${RELATIONS.join(", ")}` }),
        user: z.string().regex(/^[a-z0-9-]+~./, "must be a user of Lakekeeper, such as oidc~ml-runner"),
      }),
      { error: "must be a list of relations and users" },
    )
    .superRefine((all, context) => {
      all.forEach((one, index) => {
        if (all.findIndex((other) => sameValue(one, other)) === index) return;
        context.addIssue({ code: "custom", path: [index], message: `is there twice: ${one.type} of ${one.user}` });
      });
    }),
});

const ATTEMPTS = 3;

const provider: Provider<GrantsInputs, GrantsOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news, { secrets: ["connection"] });
  },

  async diff(_id, olds, news) {
    if (olds.warehouseId !== news.warehouseId) {
      return { changes: true, replaces: ["warehouseId"], deleteBeforeReplace: true };
    }
    const unchanged =
      !hasUnknown(news.assignments) &&
      without(olds.assignments, news.assignments).length === 0 &&
      without(news.assignments, olds.assignments).length === 0 &&
      sameValue(olds.connection, news.connection);
    return { changes: !unchanged };
  },

  async create(inputs) {
    return withCatalog(inputs.connection, async (http) => {
      const made = await converge(http, inputs.warehouseId, { wanted: inputs.assignments, unwanted: [] });
      return { id: inputs.warehouseId, outs: { ...inputs, owned: made } };
    });
  },

  async read(id, props) {
    return readOrKeep(id, props, () =>
      withCatalog(
        props.connection,
        async (http) => {
          const there = await assignmentsIfThere(http, props.warehouseId);
          if (there === undefined) return {};
          const [assignments, owned] = [props.assignments, props.owned].map((some) => within(some, there));
          return { id, props: { ...props, assignments: assignments!, owned: owned! } };
        },
        BRIEFLY,
      ),
    );
  },

  async update(id, olds, news) {
    return withCatalog(news.connection, async (http) => {
      const unwanted = without(olds.owned, news.assignments);
      const made = await converge(http, id, { wanted: news.assignments, unwanted });
      const kept = without(within(olds.owned, news.assignments), made);
      return { outs: { ...news, owned: [...kept, ...made] } };
    });
  },

  async delete(id, props) {
    await withCatalog(props.connection, async (http) => {
      if ((await assignmentsIfThere(http, id)) === undefined) return;
      await converge(http, id, { wanted: [], unwanted: props.owned });
    });
  },
};

export default provider;

/** Writes the difference alone. Returns what was missing when it first looked: an answer may be lost and its work done. */
async function converge(
  http: HttpClient,
  warehouseId: string,
  { wanted, unwanted }: { wanted: Assignment[]; unwanted: Assignment[] },
): Promise<Assignment[]> {
  const lakekeeper = new Lakekeeper(http);
  let made: Assignment[] | undefined;
  for (let attempt = 1; ; attempt++) {
    const there = await lakekeeper.warehouseAssignments(warehouseId);
    const writes = without(wanted, there);
    const deletes = within(unwanted, there);
    made ??= writes;
    if (writes.length === 0 && deletes.length === 0) return made;
    try {
      await lakekeeper.changeWarehouseAssignments(warehouseId, writes, deletes);
      return made;
    } catch (error) {
      // Lakekeeper applies nothing of a request of which something is done already: look again.
      const outdated = error instanceof HttpError && OUTDATED.has(error.type ?? "");
      if (!outdated || attempt === ATTEMPTS) throw error;
    }
  }
}

const OUTDATED = new Set(["TupleAlreadyExistsError", "TupleNotFoundError"]);

/** Undefined when the warehouse is certainly gone, which is refused like one whose permissions may not be seen. */
async function assignmentsIfThere(http: HttpClient, warehouseId: string): Promise<Assignment[] | undefined> {
  const lakekeeper = new Lakekeeper(http);
  try {
    return await lakekeeper.warehouseAssignments(warehouseId);
  } catch (error) {
    if (!(error instanceof HttpError && (error.status === 403 || error.status === 404))) throw error;
    // Lists leave out what one may not see. Whoever sees the server's permissions sees every warehouse.
    await lakekeeper.serverAssignments();
    const warehouses = await lakekeeper.warehouses();
    if (warehouses.some((warehouse) => warehouse["warehouse-id"] === warehouseId)) throw error;
    return undefined;
  }
}

function within(some: readonly Assignment[], others: readonly Assignment[]): Assignment[] {
  return some.filter((one) => others.some((other) => sameValue(one, other)));
}

function without(some: readonly Assignment[], others: readonly Assignment[]): Assignment[] {
  return some.filter((one) => !others.some((other) => sameValue(one, other)));
}
