import { z } from "zod";
import { UserError } from "../clients/errors.ts";
import { HttpError, type HttpClient } from "../clients/http.ts";
import { IcebergCatalog, tableName } from "../clients/iceberg.ts";
import { withCatalog } from "../clients/lakekeeper.ts";
import { connectionSchema, type Connection } from "../clients/token.ts";
import { BRIEFLY, inWarehouse, named, readOrKeep } from "./catalog.ts";
import { checkInputs, configure, hasUnknown, PartialFailure, type Provider, type ReadResult } from "./provider.ts";
import { sameValue } from "./sameValue.ts";

export interface NamespacesInputs {
  connection: Connection;
  warehouse: string;
  warehouseId: string;
  namespaces: string[];
}

export interface NamespacesOutputs extends NamespacesInputs {
  owned: string[];
}

/** Written into what we make, so that it is known as ours even when the state that said so is lost. */
const MARK = { "created-by": "lakekeeper-stack" };

const namespaceName = z.string({ error: "must be a dotted name, such as main.default" }).refine(
  (name) => {
    const levels = name.split(".");
    return levels.length <= 5 && levels.every((level) => level !== "" && !level.includes("+"));
  },
  { error: "must be a dotted name of one to five levels, none of them empty and none with a +" },
);

const schema = z.object({
  connection: connectionSchema,
  warehouse: z.string(),
  warehouseId: z.string(),
  namespaces: z.array(namespaceName, { error: "must be a list of dotted names" }).superRefine((names, context) => {
    names.forEach((name, index) => {
      const first = names.findIndex((other) => other.toLowerCase() === name.toLowerCase());
      if (first === index) return;
      const message = `is there twice: Lakekeeper takes ${names[first]} and ${name} for one. Keep one in lakekeeper:namespaces`;
      context.addIssue({ code: "custom", path: [index], message });
    });
  }),
});

const provider: Provider<NamespacesInputs, NamespacesOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news, { secrets: ["connection"] });
  },

  async diff(_id, olds, news) {
    if (olds.warehouseId !== news.warehouseId) {
      return { changes: true, replaces: ["warehouseId"], deleteBeforeReplace: true };
    }
    const unchanged =
      !hasUnknown(news.namespaces) &&
      sameValue([...olds.namespaces].sort(), [...news.namespaces].sort()) &&
      sameValue(olds.connection, news.connection);
    return { changes: !unchanged };
  },

  async create(inputs) {
    return withCatalog(inputs.connection, async (http) => {
      const outs = await ensure(http, inputs, []);
      return { id: inputs.warehouseId, outs };
    });
  },

  async read(id, props) {
    return readOrKeep(id, props, () =>
      withCatalog(
        props.connection,
        (http) =>
          inWarehouse(
            http,
            props.warehouseId,
            async (): Promise<ReadResult<NamespacesOutputs>> => {
              const catalog = new IcebergCatalog(http, props.warehouseId);
              const there = new Set<string>();
              for (const name of withParents([...props.namespaces, ...props.owned])) {
                if ((await catalog.namespace(name.split("."))) !== undefined) there.add(name);
              }
              const isThere = (name: string) => there.has(name);
              return {
                id,
                props: { ...props, namespaces: props.namespaces.filter(isThere), owned: props.owned.filter(isThere) },
              };
            },
            {},
          ),
        BRIEFLY,
      ),
    );
  },

  async update(_id, olds, news) {
    return withCatalog(news.connection, async (http) => {
      const outs = await ensure(http, news, olds.owned);
      const wanted = new Set(withParents(news.namespaces));
      const left = await dropEmpty(
        http,
        news.warehouseId,
        outs.owned.filter((name) => !wanted.has(name)),
      );
      for (const { name, reason } of left) {
        console.log(
          `${name} is no longer wanted but was left, since it is not empty: ${reason}. It goes with the next change once it is`,
        );
      }
      const stays = new Set([...wanted, ...left.map(({ name }) => name)]);
      return { outs: { ...outs, owned: outs.owned.filter((name) => stays.has(name)) } };
    });
  },

  async delete(_id, props) {
    await withCatalog(props.connection, async (http) => {
      const left = await inWarehouse(
        http,
        props.warehouseId,
        () => dropEmpty(http, props.warehouseId, props.owned),
        [],
      );
      if (left.length === 0) return;
      throw new UserError(
        `Not dropped in warehouse "${props.warehouse}", because they are not empty: ${left.map(({ name, reason }) => `${name} (${reason})`).join("; ")}. ` +
          "What this stack registered is gone already, so the rest is somebody else's. Have it removed (tables with purgeRequested=false, which keeps their files) and run this again, " +
          "or leave the namespaces in the catalog and take them out of the state (`pulumi state delete <their URN>`).",
      );
    });
  },
};

export default provider;

/** All these and their parents, parents first. */
export function withParents(names: readonly string[]): string[] {
  const all = names.flatMap((name) => {
    const levels = name.split(".");
    return levels.map((_, index) => levels.slice(0, index + 1).join("."));
  });
  return [...new Set(all)].sort((a, b) => a.split(".").length - b.split(".").length);
}

async function ensure(
  http: HttpClient,
  inputs: NamespacesInputs,
  ownedBefore: readonly string[],
): Promise<NamespacesOutputs> {
  const catalog = new IcebergCatalog(http, inputs.warehouseId);
  const owned = new Set(ownedBefore);
  const there = new Set<string>();
  const outs = (): NamespacesOutputs => ({
    ...inputs,
    namespaces: inputs.namespaces.filter((name) => there.has(name)),
    owned: [...owned],
  });
  try {
    for (const name of withParents(inputs.namespaces)) {
      if (await makeOrAdopt(catalog, name.split("."))) owned.add(name);
      there.add(name);
    }
  } catch (error) {
    if (!(error instanceof Error) || there.size === 0) throw error;
    throw new PartialFailure(inputs.warehouseId, outs(), [error.message]);
  }
  return outs();
}

/** True when the namespace is ours: made now, or marked as made before. */
async function makeOrAdopt(catalog: IcebergCatalog, namespace: readonly string[]): Promise<boolean> {
  const isOurs = async () => {
    const properties = await catalog.namespace(namespace);
    return properties && properties["created-by"] === MARK["created-by"];
  };
  const known = await isOurs();
  if (known !== undefined) return known;
  try {
    await catalog.createNamespace(namespace, MARK);
    return true;
  } catch (error) {
    if (!(error instanceof HttpError && error.type === "AlreadyExistsException")) throw error;
    return (await isOurs()) ?? false;
  }
}

/** Drops namespaces, children before parents; those that are not empty are left and told with what is in them. */
async function dropEmpty(
  http: HttpClient,
  warehouseId: string,
  names: readonly string[],
): Promise<{ name: string; reason: string }[]> {
  const catalog = new IcebergCatalog(http, warehouseId);
  const left: { name: string; reason: string }[] = [];
  for (const name of [...names].sort((a, b) => b.split(".").length - a.split(".").length)) {
    try {
      await catalog.dropNamespace(name.split("."));
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      if (error.type === "NoSuchNamespaceException") continue;
      if (error.type !== "NamespaceNotEmptyException") throw error;
      left.push({ name, reason: await contents(catalog, name.split("."), error) });
    }
  }
  return left;
}

async function contents(catalog: IcebergCatalog, namespace: readonly string[], error: HttpError): Promise<string> {
  const tables = await catalog.tables(namespace);
  const children = await catalog.namespaces(namespace);
  const parts = [
    ...(tables.length === 0 ? [] : [`tables ${named(tables.map(tableName))}`]),
    ...(children.length === 0 ? [] : [`namespaces ${named(children.map((child) => child.join(".")))}`]),
  ];
  return parts.length === 0 ? error.said : parts.join(" and ");
}
