import { type Answer, type Call, noContent, ok, type Route } from "../http/call.ts";
import { CatalogError } from "../http/errors.ts";
import { maybe, string, struct } from "../http/shape.ts";
import { uuid7 } from "../ids.ts";
import { violatedConstraint } from "../store/database.ts";
import { listable, listsAllProjects, permitOnProject, permitOnServer } from "./permit.ts";

interface Project {
  readonly "project-id": string;
  readonly "project-name": string;
}
const columns = `project_id AS "project-id", name AS "project-name"`;

function notFound(id: string): CatalogError {
  return new CatalogError(404, "ProjectNotFound", `Project with id '${id}' not found`);
}

async function get(call: Call): Promise<Answer> {
  const id = call.projectId();
  await permitOnProject(call, id, "can_get_metadata");
  const { rows } = await call.catalog.database.read.query<Project>(
    `SELECT ${columns} FROM project WHERE project_id = $1`,
    [id],
  );
  if (rows[0] === undefined) throw notFound(id);
  return ok(rows[0]);
}

async function list(call: Call): Promise<Answer> {
  const { rows } = await call.catalog.database.read.query<Project>(
    `SELECT ${columns} FROM project ORDER BY created_at`,
  );
  if (await listsAllProjects(call)) return ok({ projects: rows });
  return ok({ projects: await listable(call, rows, (project) => `project:${project["project-id"]}`) });
}

const createRequest = struct("CreateProjectRequest", { "project-name": string, "project-id": maybe(string) });

async function create(call: Call): Promise<Answer> {
  const request = call.body(createRequest);
  await permitOnServer(call, "can_create_project");
  const id = request["project-id"] ?? uuid7();
  try {
    await call.catalog.database.transaction(async (client) => {
      await client.query("INSERT INTO project (project_id, name) VALUES ($1, $2)", [id, request["project-name"]]);
      await call.catalog.authorizer?.createdProject(call.identity, id);
    });
  } catch (error) {
    if (violatedConstraint(error) === undefined) throw error;
    throw new CatalogError(409, "ProjectIdAlreadyExists", `Project with id '${id}' already exists`);
  }
  return { ...ok({ "project-id": id }), status: 201 };
}

const renameRequest = struct("RenameProjectRequest", { "new-name": string });

async function rename(call: Call): Promise<Answer> {
  const id = call.projectId();
  const name = call.body(renameRequest)["new-name"];
  await permitOnProject(call, id, "can_rename");
  const renamed = await call.catalog.database.write.query("UPDATE project SET name = $2 WHERE project_id = $1", [
    id,
    name,
  ]);
  if (renamed.rowCount === 0) throw notFound(id);
  return { status: 200 };
}

async function remove(call: Call): Promise<Answer> {
  const id = call.projectId();
  await permitOnProject(call, id, "can_delete");
  try {
    const deleted = await call.catalog.database.write.query("DELETE FROM project WHERE project_id = $1", [id]);
    if (deleted.rowCount === 0) throw notFound(id);
  } catch (error) {
    if (violatedConstraint(error) === undefined) throw error;
    throw new CatalogError(409, "ProjectNotEmpty", `Project with id '${id}' is not empty`);
  }
  await call.catalog.authorizer?.removed(`project:${id}`);
  return noContent;
}

export const projectRoutes: readonly Route[] = [
  { method: "GET", path: "/management/v1/project", handle: get },
  { method: "POST", path: "/management/v1/project", handle: create },
  { method: "DELETE", path: "/management/v1/project", handle: remove },
  { method: "POST", path: "/management/v1/project/rename", handle: rename },
  { method: "GET", path: "/management/v1/project-list", handle: list },
];
