import { userOf, type ObjectId } from "../authz/authorizer.ts";
import { assignable, type ObjectType } from "../authz/model.ts";
import type { TupleKey } from "../authz/openFgaClient.ts";
import { type Answer, type Call, noContent, ok, type Route } from "../http/call.ts";
import { CatalogError, notModelled } from "../http/errors.ts";
import { isObject } from "../http/json.ts";
import { list, oneOf, optional, type Shape, ShapeError, string, struct } from "../http/shape.ts";
import { idOf } from "./scope.ts";

/** The objects whose assignments are read and changed, by the paths they have below `/management/v1/permissions`. */
const kinds: readonly { path: string; type: ObjectType; objectOf: (call: Call) => ObjectId }[] = [
  { path: "server", type: "server", objectOf: (call) => authorizerOf(call).server },
  { path: "project", type: "project", objectOf: (call) => `project:${call.projectId()}` },
  { path: "project/:project", type: "project", objectOf: (call) => `project:${call.param("project")}` },
  { path: "warehouse/:id", type: "warehouse", objectOf: (call) => `warehouse:${warehouseId(call)}` },
  {
    path: "namespace/:namespace",
    type: "namespace",
    objectOf: (call) => `namespace:${idOf(call, "namespace", "namespace_id")}`,
  },
  {
    path: "warehouse/:id/table/:tabular",
    type: "lakekeeper_table",
    objectOf: (call) => `lakekeeper_table:${warehouseId(call)}/${idOf(call, "tabular", "table_id")}`,
  },
  {
    path: "warehouse/:id/view/:tabular",
    type: "lakekeeper_view",
    objectOf: (call) => `lakekeeper_view:${warehouseId(call)}/${idOf(call, "tabular", "view_id")}`,
  },
];
type Kind = (typeof kinds)[number];

function warehouseId(call: Call): string {
  return idOf(call, "id", "warehouse_id");
}

function authorizerOf({ catalog }: Call): NonNullable<Call["catalog"]["authorizer"]> {
  if (catalog.authorizer === undefined) throw new Error("There are no permissions without an authorizer.");
  return catalog.authorizer;
}

async function read(call: Call, { type, objectOf }: Kind): Promise<Answer> {
  const authorizer = authorizerOf(call);
  const object = objectOf(call);
  // Whether the name of this list takes brackets, as others do, is not known.
  if ([...call.query.keys()].some((name) => name.startsWith("relations"))) throw notModelled("the query relations");
  const relation = "can_read_assignments";
  const [allowed] = await authorizer.allowed(call.identity, [{ object, relation }]);
  if (allowed !== true)
    throw new CatalogError(403, "ActionForbidden", `Action ${relation} not allowed for object ${object}`);
  const assignments = await authorizer.assignments(object, assignable[type]);
  return ok({ assignments, ...(type === "project" && { "project-id": object.slice("project:".length) }) });
}

interface Assignment {
  readonly type: string;
  readonly user: string;
}

/** `{"type","user"}`. Roles, to which the real server assigns as well, are refused with 501. */
function assignmentOf(type: ObjectType): Shape<Assignment> {
  const relation = oneOf(...assignable[type]);
  const shape = struct("Assignment", { type: relation, user: string });
  return (value, path) => {
    if (isObject(value) && Object.hasOwn(value, "role")) throw notModelled("roles");
    const read = shape(value, path);
    if (!/^[a-z0-9-]+~./.test(read.user)) throw new ShapeError(path, `Invalid user id: ${read.user}`);
    return read;
  };
}

async function write(call: Call, { type, objectOf }: Kind): Promise<Answer> {
  const authorizer = authorizerOf(call);
  const object = objectOf(call);
  const assignments = list(assignmentOf(type));
  const { writes, deletes } = call.body(
    struct("UpdateAssignmentsRequest", { writes: optional(assignments, []), deletes: optional(assignments, []) }),
  );
  if (call.identity === undefined) throw new CatalogError(401, "AuthenticationRequired", "Authentication required");
  const needed = [...new Set([...writes, ...deletes].map((each) => grantOf(each.type)))];
  const allowed = await authorizer.allowed(
    call.identity,
    needed.map((relation) => ({ object, relation })),
  );
  const missing = needed.find((_, index) => allowed[index] !== true);
  // 401, although the caller is known: the real server words it so.
  if (missing !== undefined)
    throw new CatalogError(401, "Unauthorized", `Unauthorized for action \`${missing}\` on \`${object}\``);
  const tuple = ({ type: relation, user }: Assignment): TupleKey => ({ user: userOf(user), relation, object });
  await authorizer.assign({ writes: writes.map(tuple), deletes: deletes.map(tuple) });
  return noContent;
}

function grantOf(relation: string): string {
  return relation === "ownership" ? "can_change_ownership" : `can_grant_${relation}`;
}

const root = "/management/v1/permissions";

export const permissionRoutes: readonly Route[] = [
  ...kinds.flatMap((kind): Route[] => [
    { method: "GET", path: `${root}/${kind.path}/assignments`, handle: (call) => read(call, kind) },
    { method: "POST", path: `${root}/${kind.path}/assignments`, handle: (call) => write(call, kind) },
  ]),
  ...(["GET", "POST"] as const).map((method) => ({
    method,
    path: `${root}/*`,
    handle: (call: Call) => {
      throw notModelled(`${method} ${root}/${call.param("*")}`);
    },
  })),
];
