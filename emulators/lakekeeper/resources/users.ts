import { userOf } from "../authz/authorizer.ts";
import { type Answer, type Call, noContent, ok, type Route } from "../http/call.ts";
import { CatalogError } from "../http/errors.ts";
import { pageToken, readPage } from "../http/paging.ts";
import { maybe, oneOf, optional, string, struct, boolean } from "../http/shape.ts";
import { deleteUser, findUser, insertUser, listUsers, upsertUser, type User } from "../store/users.ts";
import { permitOnServer } from "./permit.ts";

function show(user: User): object {
  return {
    name: user.name,
    email: user.email,
    id: user.id,
    "user-type": user.kind,
    "last-updated-with": user.source,
    "created-at": user.createdAt,
    "updated-at": user.updatedAt,
  };
}

function notFound(id: string): CatalogError {
  return new CatalogError(404, "UserNotFound", `User with id ${id} not found.`);
}

async function whoami({ catalog, identity }: Call): Promise<Answer> {
  if (identity === undefined) throw new CatalogError(401, "GetMyUserWithoutToken", "No token provided");
  const user = await findUser(catalog.database.read, identity.userId);
  if (user === undefined) throw notFound(identity.userId);
  return ok({ ...show(user), "is-instance-admin": false });
}

async function list(call: Call): Promise<Answer> {
  await permitOnServer(call, "can_list_users");
  const { settings, database } = call.catalog;
  const page = readPage(call.query, { default: settings.pageSizeDefault, max: settings.pageSizeMax });
  const users = await listUsers(database.read, page);
  const last = users.at(-1);
  // Unlike other lists this one has a token as long as it is not empty.
  return ok({ users: users.map(show), ...(last === undefined ? {} : { "next-page-token": pageToken(last) }) });
}

const createRequest = struct("CreateUserRequest", {
  name: maybe(string),
  email: maybe(string),
  id: maybe(string),
  "user-type": maybe(oneOf("human", "application")),
  "update-if-exists": optional(boolean, false),
});

async function create(call: Call): Promise<Answer> {
  const { catalog, identity } = call;
  const request = call.body(createRequest);
  const id = request.id ?? identity?.userId;
  const name = request.name ?? (id === identity?.userId ? identity?.name : undefined);
  const kind = request["user-type"] ?? (id === identity?.userId ? identity?.kind : undefined);
  if (id === undefined)
    throw new CatalogError(400, "UserIDMissing", "User ID could not be extracted from the token and must be provided.");
  if (!/^(oidc|kubernetes)~./.test(id)) throw new CatalogError(400, "InvalidUserId", `Invalid user id: ${id}`);
  if (name === undefined || name === "") throw new CatalogError(400, "InvalidUserName", "Name cannot be empty");
  if (kind === undefined)
    throw new CatalogError(
      400,
      "UserTypeMissing",
      "User type could not be extracted from the token and must be provided.",
    );
  if (id !== identity?.userId) await permitOnServer(call, "can_provision_users");
  const user = { id, name, email: request.email, kind, source: "create-endpoint" as const };
  const created = await insertUser(catalog.database.write, user);
  if (created !== undefined) return { ...ok(show(created)), status: 201 };
  if (!request["update-if-exists"])
    throw new CatalogError(409, "UserAlreadyExists", `User with id ${id} already exists.`);
  return ok(show(await upsertUser(catalog.database.write, user)));
}

async function get(call: Call): Promise<Answer> {
  const user = await findUser(call.catalog.database.read, call.param("id"));
  if (user === undefined) throw notFound(call.param("id"));
  return ok(show(user));
}

async function remove(call: Call): Promise<Answer> {
  const id = call.param("id");
  if (id !== call.identity?.userId) await permitOnServer(call, "can_delete_users");
  if (!(await deleteUser(call.catalog.database.write, id))) throw notFound(id);
  await call.catalog.authorizer?.removed(userOf(id));
  return noContent;
}

export const userRoutes: readonly Route[] = [
  { method: "GET", path: "/management/v1/whoami", handle: whoami },
  { method: "GET", path: "/management/v1/user", handle: list },
  { method: "POST", path: "/management/v1/user", handle: create },
  { method: "GET", path: "/management/v1/user/:id", handle: get },
  { method: "DELETE", path: "/management/v1/user/:id", handle: remove },
];
