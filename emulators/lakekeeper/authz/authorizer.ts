import type { Identity } from "../auth/authenticator.ts";
import { CatalogError } from "../http/errors.ts";
import { log } from "../log.ts";
import type { TabularKind } from "../store/tabulars.ts";
import type { ObjectType } from "./model.ts";
import { OpenFgaFailure, type OpenFgaStore, type TupleKey } from "./openFgaClient.ts";

/** E.g. `warehouse:<id>`, `lakekeeper_table:<warehouse id>/<table id>`. */
export type ObjectId = `${ObjectType}:${string}`;

export interface Question {
  readonly object: ObjectId;
  readonly relation: string;
}

const objectTypes: readonly ObjectType[] = [
  "server",
  "project",
  "warehouse",
  "namespace",
  "lakekeeper_table",
  "lakekeeper_view",
];

export function tabularObject(kind: TabularKind, warehouseId: string, id: string): ObjectId {
  return `lakekeeper_${kind}:${warehouseId}/${id}`;
}

export function userOf(userId: string): `user:${string}` {
  return `user:${encodeURIComponent(userId)}`;
}

export function userIdIn(user: string): string {
  return decodeURIComponent(user.slice("user:".length));
}

/** Decides with OpenFGA what a caller may do, and tells it what was made, by whom, and what is gone. */
export class Authorizer {
  readonly server: ObjectId;
  readonly #store: OpenFgaStore;

  constructor(store: OpenFgaStore, serverId: string) {
    this.#store = store;
    this.server = `server:${serverId}`;
  }

  /** Whether OpenFGA answers. */
  async ping(): Promise<void> {
    await this.#store.check([{ user: "user:*", relation: "can_list_all_projects", object: this.server }]);
  }

  /** Answers in the order of the questions. Nobody without an identity may do anything. Throws 503. */
  async allowed(identity: Identity | undefined, questions: readonly Question[]): Promise<boolean[]> {
    if (identity === undefined || questions.length === 0) return questions.map(() => false);
    const user = userOf(identity.userId);
    return unavailableOr(this.#store.check(questions.map((question) => ({ user, ...question }))));
  }

  /** Makes the caller of the bootstrap what it asked to be; it may be that already. */
  bootstrap(identity: Identity, relation: "admin" | "operator"): Promise<void> {
    const tuple = { user: userOf(identity.userId), relation, object: this.server };
    return unavailableOr(this.#store.write({ writes: [tuple] }, "ignore"));
  }

  createdProject(identity: Identity | undefined, id: string): Promise<void> {
    const object: ObjectId = `project:${id}`;
    return this.#created(identity, "project_admin", object, [
      { user: this.server, relation: "server", object },
      { user: object, relation: "project", object: this.server },
    ]);
  }

  createdWarehouse(identity: Identity | undefined, id: string, projectId: string): Promise<void> {
    const [object, project]: [ObjectId, ObjectId] = [`warehouse:${id}`, `project:${projectId}`];
    return this.#created(identity, "ownership", object, [
      { user: project, relation: "project", object },
      { user: object, relation: "warehouse", object: project },
    ]);
  }

  createdNamespace(identity: Identity | undefined, id: string, parent: ObjectId): Promise<void> {
    const object: ObjectId = `namespace:${id}`;
    return this.#created(identity, "ownership", object, [
      { user: parent, relation: "parent", object },
      { user: object, relation: parent.startsWith("warehouse:") ? "namespace" : "child", object: parent },
    ]);
  }

  createdTabular(identity: Identity | undefined, object: ObjectId, namespaceId: string): Promise<void> {
    const parent = `namespace:${namespaceId}`;
    return this.#created(identity, "ownership", object, [
      { user: parent, relation: "parent", object },
      { user: object, relation: "child", object: parent },
    ]);
  }

  async #created(
    identity: Identity | undefined,
    relation: string,
    object: ObjectId,
    links: readonly TupleKey[],
  ): Promise<void> {
    if ((await unavailableOr(this.#store.read({ object }))).length > 0)
      throw new CatalogError(409, "ObjectHasRelations", `Object to create ${object} already has relations`);
    const owner = identity === undefined ? [] : [{ user: userOf(identity.userId), relation, object }];
    await unavailableOr(this.#store.write({ writes: [...owner, ...links] }));
  }

  /** Forgets who has what with an object or user that is gone. What then fails is only logged, as in the real server. */
  async removed(gone: ObjectId | `user:${string}`): Promise<void> {
    try {
      const asUser = await Promise.all(objectTypes.map((type) => this.#store.read({ user: gone, object: `${type}:` })));
      const asObject = gone.startsWith("user:") ? [] : await this.#store.read({ object: gone });
      await this.#store.remove([...asObject, ...asUser.flat()]);
    } catch (error) {
      log("ERROR", "lakekeeper_authz_openfga", `Failed to delete ${gone} from authorizer`, { details: String(error) });
    }
  }

  /** Users who have one of these relations by assignment, relation by relation. */
  async assignments(object: ObjectId, relations: readonly string[]): Promise<{ type: string; user: string }[]> {
    const found = await unavailableOr(Promise.all(relations.map((relation) => this.#store.read({ object, relation }))));
    return found.flat().map(({ relation, user }) => ({ type: relation, user: userIdIn(user) }));
  }

  /** All changes or none. Throws 409 TupleAlreadyExistsError, 404 TupleNotFoundError and 503. */
  async assign(changes: { writes: readonly TupleKey[]; deletes: readonly TupleKey[] }): Promise<void> {
    try {
      await this.#store.write(changes);
    } catch (error) {
      const message = error instanceof OpenFgaFailure ? error.message : "";
      if (message.includes("cannot write a tuple which already exists"))
        throw new CatalogError(409, "TupleAlreadyExistsError", "Cannot write a tuple which already exists", [message]);
      if (message.includes("cannot delete a tuple which does not exist"))
        throw new CatalogError(404, "TupleNotFoundError", "Cannot delete a tuple which does not exist", [message]);
      throw unavailable(error);
    }
  }
}

function unavailable(error: unknown): Error {
  if (!(error instanceof OpenFgaFailure)) return error as Error;
  return new CatalogError(503, "AuthorizationBackendError", "Authorization service is unavailable", [error.message]);
}

function unavailableOr<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    throw unavailable(error);
  });
}
