import { z } from "zod";
import { Checker } from "./check.ts";
import { invalid, notModelled, OpenFgaError } from "./errors.ts";
import { type AuthorizationModel, checkModel, checkTuple, modelRequest, typeOf, usersetOf } from "./model.ts";
import type { Store, Stores } from "./store.ts";

/** The parts of a request that the answer depends on. `body` is undefined when there is none. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

const mostChanges = 100;
const mostChecks = 50;

const tupleKey = z.strictObject({
  user: z.string(),
  relation: z.string(),
  object: z.string(),
  condition: z.null().optional(),
});
const consistency = z.enum(["UNSPECIFIED", "MINIMIZE_LATENCY", "HIGHER_CONSISTENCY"]).optional();
const onConflict = z.enum(["error", "ignore", ""]).default("error");
const modelId = z.string().optional();

const storeRequest = z.strictObject({ name: z.string().regex(/^[a-zA-Z0-9\s.\-/^_&@]{3,64}$/) });
const writeRequest = z.strictObject({
  writes: z.strictObject({ tuple_keys: z.array(tupleKey), on_duplicate: onConflict }).optional(),
  deletes: z.strictObject({ tuple_keys: z.array(tupleKey), on_missing: onConflict }).optional(),
  authorization_model_id: modelId,
});
const readRequest = z.strictObject({
  tuple_key: z
    .strictObject({ user: z.string().default(""), relation: z.string().default(""), object: z.string().default("") })
    .optional(),
  page_size: z.int().min(1).max(100).default(50),
  continuation_token: z.string().default(""),
  consistency,
});
const checkRequest = z.strictObject({ tuple_key: tupleKey, authorization_model_id: modelId, consistency });
const batchRequest = z.strictObject({
  checks: z
    .array(z.strictObject({ tuple_key: tupleKey, correlation_id: z.string().regex(/^[\w-]{1,36}$/) }))
    .min(1)
    .max(mostChecks),
  authorization_model_id: modelId,
  consistency,
});

function read<T>(shape: z.ZodType<T>, value: unknown): T {
  const result = shape.safeParse(value ?? {});
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalid(`invalid ${issue!.path.join(".") || "request"}: ${issue!.message}`);
}

/** Answers the part of OpenFGA's HTTP API that a service which brings its own model calls. Throws OpenFgaError. */
export function answer(stores: Stores, request: ApiRequest): ApiAnswer {
  const { method, path, body } = request;
  if (path === "/stores" && method === "POST") return created(stores.create(read(storeRequest, body).name));
  if (path === "/stores" && method === "GET") return ok(listStores(stores, request.query));
  const [, id = "", rest] = /^\/stores\/([^/]+)(\/.+)?$/.exec(path) ?? [];
  if (id === "") throw noEndpoint();
  const store = findStore(stores, id);
  const [, single] = /^\/authorization-models\/([^/]+)$/.exec(rest ?? "") ?? [];
  if (single !== undefined && method === "GET") {
    const { id: found, model } = findModel(stores, store, single);
    return ok({ authorization_model: { id: found, ...model } });
  }
  switch (`${method} ${rest ?? ""}`.trim()) {
    case "GET":
      return ok(store);
    case "DELETE":
      stores.remove(store.id);
      return { status: 204, body: undefined };
    case "GET /authorization-models": {
      const models = stores.models(store.id).map(({ id: found, model }) => ({ id: found, ...model }));
      return ok({ authorization_models: models, continuation_token: "" });
    }
    case "POST /authorization-models": {
      const model = read(modelRequest, body);
      checkModel(model);
      return created({ authorization_model_id: stores.addModel(store.id, model) });
    }
    case "POST /write":
      return ok(write(stores, store, body));
    case "POST /read":
      return ok(readTuples(stores, store, body));
    case "POST /check": {
      const wanted = read(checkRequest, body);
      const { model } = findModel(stores, store, wanted.authorization_model_id);
      return ok({ allowed: checker(stores, store, model)(wanted.tuple_key), resolution: "" });
    }
    case "POST /batch-check": {
      const wanted = read(batchRequest, body);
      const check = checker(stores, store, findModel(stores, store, wanted.authorization_model_id).model);
      const decided = wanted.checks.map((each) => [each.correlation_id, { allowed: check(each.tuple_key) }] as const);
      return ok({ result: Object.fromEntries(decided) });
    }
  }
  if (/^\/(expand|list-objects|streamed-list-objects|list-users|changes|assertions\/.*)$/.test(rest ?? ""))
    throw notModelled(`${method} ${rest}`);
  throw noEndpoint();
}

function ok(body: unknown): ApiAnswer {
  return { status: 200, body };
}

function created(body: unknown): ApiAnswer {
  return { status: 201, body };
}

function noEndpoint(): OpenFgaError {
  return new OpenFgaError(404, "undefined_endpoint", "Not Found");
}

function findStore(stores: Stores, id: string): Store {
  if (!/^[0-9A-HJKMNP-TV-Z]{26}$/.test(id))
    throw invalid(`invalid StoreId: value does not match regex pattern "^[ABCDEFGHJKMNPQRSTVWXYZ0-9]{26}$"`);
  const store = stores.find(id);
  if (store === undefined) throw new OpenFgaError(404, "store_id_not_found", "Store ID not found");
  return store;
}

/** The newest one when none is named. */
function findModel(stores: Stores, store: Store, id = ""): { id: string; model: AuthorizationModel } {
  const models = stores.models(store.id);
  if (id === "" && models.length === 0)
    throw invalid(`No authorization models found for store '${store.id}'`, "latest_authorization_model_not_found");
  const found = id === "" ? models[0] : models.find((each) => each.id === id);
  if (found === undefined) throw invalid(`Authorization Model '${id}' not found`, "authorization_model_not_found");
  return found;
}

function listStores(stores: Stores, query: URLSearchParams): object {
  const size = Number(query.get("page_size") ?? 50);
  if (!Number.isInteger(size) || size < 1 || size > 100)
    throw invalid("invalid page_size: value must be inside range [1, 100]");
  const found = stores.list(query.get("name") ?? undefined, query.get("continuation_token") ?? "", size);
  return { stores: found, continuation_token: found.length === size ? found.at(-1)!.id : "" };
}

function write(stores: Stores, store: Store, body: unknown): object {
  const { writes, deletes, authorization_model_id: id } = read(writeRequest, body);
  const { model } = findModel(stores, store, id);
  const [added, removed] = [writes?.tuple_keys ?? [], deletes?.tuple_keys ?? []];
  const changes = [...added, ...removed];
  if (changes.length === 0)
    throw invalid(
      "Invalid input. Make sure you provide at least one write, or at least one delete",
      "invalid_write_input",
    );
  if (changes.length > mostChanges)
    throw invalid(
      `The number of write operations exceeds the allowed limit of ${mostChanges}`,
      "exceeded_entity_limit",
    );
  for (const key of added) checkTuple(model, key);
  const seen = new Set<string>();
  for (const { user, relation, object } of changes) {
    const text = `user: '${user}', relation: '${relation}', object: '${object}'`;
    if (seen.has(text))
      throw invalid(`duplicate tuple in write: ${text}`, "cannot_allow_duplicate_tuples_in_one_request");
    seen.add(text);
  }
  stores.write(
    store.id,
    { keys: added, onDuplicate: writes?.on_duplicate || "error" },
    { keys: removed, onMissing: deletes?.on_missing || "error" },
  );
  return {};
}

function readTuples(stores: Stores, store: Store, body: unknown): object {
  const wanted = read(readRequest, body);
  const key = wanted.tuple_key ?? { user: "", relation: "", object: "" };
  if (wanted.tuple_key !== undefined && (typeOf(key.object) === "" || (key.object.endsWith(":") && key.user === "")))
    throw invalid(
      "the 'tuple_key' field was provided but the object type field is required and both the object id and user cannot be empty",
    );
  if (!/^\d*$/.test(wanted.continuation_token))
    throw invalid("Invalid continuation token", "invalid_continuation_token");
  const found = stores.read(store.id, key, Number(wanted.continuation_token), wanted.page_size);
  return {
    tuples: found.map(({ user, relation, object, written }) => ({
      key: { user, relation, object, condition: null },
      timestamp: written,
    })),
    continuation_token: found.length === wanted.page_size ? String(found.at(-1)!.position) : "",
  };
}

/** One decision after the other, all on what there is now. */
function checker(
  stores: Stores,
  store: Store,
  model: AuthorizationModel,
): (key: { user: string; relation: string; object: string }) => boolean {
  const usersOf = stores.usersOf(store.id);
  const checkers = new Map<string, Checker>();
  return ({ user, relation, object }) => {
    const type = typeOf(object);
    if (usersetOf(model, type, relation) === undefined) {
      const known = model.type_definitions.some((each) => each.type === type);
      throw invalid(known ? `relation '${type}#${relation}' not found` : `type '${type}' not found`);
    }
    if (!checkers.has(user)) checkers.set(user, new Checker(model, user, usersOf));
    return checkers.get(user)!.holds(object, relation);
  };
}
