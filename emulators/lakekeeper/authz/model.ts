/** Who has a relation, in the form in which OpenFGA takes it. */
type Userset = Readonly<Record<string, unknown>>;
type Part = string | Userset;

interface Relation {
  readonly userset: Userset;
  /** Types of those to whom a tuple can give it. */
  readonly given: readonly string[];
}

const own: Userset = { this: {} };

function partOf(part: Part): Userset {
  return typeof part === "string" ? { computedUserset: { relation: part } } : part;
}

/** Those who have one of these relations. */
function any(...parts: readonly Part[]): Userset {
  const child = parts.map(partOf);
  return child.length === 1 ? child[0]! : { union: { child } };
}

/** Those who have the relation to what this object has as its `link`. */
function from(link: string, relation: string): Userset {
  return { tupleToUserset: { tupleset: { relation: link }, computedUserset: { relation } } };
}

/** Assignable to users, and had by those who have one of the other relations. */
function grant(...implied: readonly Part[]): Relation {
  return { userset: any(own, ...implied), given: ["user"] };
}

/** A link between two objects. */
function link(...types: readonly string[]): Relation {
  return { userset: own, given: types };
}

function may(...parts: readonly Part[]): Relation {
  return { userset: any(...parts), given: [] };
}

/** A relation can be granted by who manages grants, and by who has it and may pass it on. */
function grantable<const R extends string>(relations: readonly R[]): Record<`can_grant_${R}`, Relation> {
  const entries = relations.map((relation) => [
    `can_grant_${relation}`,
    may("manage_grants", { intersection: { child: [partOf(relation), partOf("pass_grants")] } }),
  ]);
  return Object.fromEntries(entries) as Record<`can_grant_${R}`, Relation>;
}

const administration = {
  can_grant_pass_grants: may("manage_grants"),
  can_grant_manage_grants: may("manage_grants"),
  can_change_ownership: may("manage_grants"),
};
const grants = { ...grantable(["describe", "select", "modify"]), ...administration };
const grantsWithCreate = { ...grants, ...grantable(["create"]) };

const serverStaff = may("admin", "operator");
const security = may("security_admin", from("server", "admin"));

/** What tables and views have in common. */
const tabular = {
  parent: link("namespace"),
  ownership: grant(),
  pass_grants: grant(),
  manage_grants: grant("ownership", from("parent", "manage_grants")),
  describe: grant("ownership", "select", from("parent", "describe")),
  select: grant("ownership", "modify", from("parent", "select")),
  modify: grant("ownership", from("parent", "modify")),
  can_get_metadata: may("describe"),
  can_include_in_list: may("can_get_metadata"),
  can_commit: may("modify"),
  can_drop: may("modify"),
  can_rename: may("modify"),
  can_set_protection: may("modify"),
  can_undrop: may("modify"),
  ...grants,
  can_read_assignments: may(...Object.keys(grants)),
};

/**
 * The relations of Lakekeeper's authorization model 4.7 that this server asks about (authz/openfga in its repository;
 * https://docs.lakekeeper.io/docs/latest/authorization-openfga/). Roles, generic tables and managed access are left out.
 */
export const types = {
  user: {},
  server: {
    project: link("project"),
    admin: grant(),
    operator: grant(),
    can_create_project: serverStaff,
    can_list_all_projects: serverStaff,
    can_list_users: serverStaff,
    can_provision_users: serverStaff,
    can_update_users: serverStaff,
    can_delete_users: serverStaff,
    can_read_assignments: serverStaff,
    can_grant_admin: serverStaff,
    can_grant_operator: serverStaff,
  },
  project: {
    server: link("server"),
    warehouse: link("warehouse"),
    project_admin: grant(from("server", "operator")),
    security_admin: grant("project_admin"),
    data_admin: grant("project_admin"),
    role_creator: grant("security_admin"),
    describe: grant("select", "create", "data_admin", "security_admin"),
    select: grant("modify"),
    create: grant("data_admin"),
    modify: grant("project_admin"),
    can_create_warehouse: may("create"),
    can_delete: may("modify"),
    can_rename: may("modify"),
    can_get_metadata: may("describe", from("warehouse", "can_get_metadata"), from("server", "admin")),
    can_include_in_list: may("can_get_metadata"),
    can_list_warehouses: may("can_get_metadata"),
    can_read_assignments: may("security_admin", "project_admin", from("server", "admin")),
    can_grant_project_admin: may("project_admin", from("server", "admin")),
    can_grant_security_admin: security,
    can_grant_data_admin: security,
    can_grant_role_creator: security,
    can_grant_describe: security,
    can_grant_select: security,
    can_grant_create: security,
    can_grant_modify: security,
  },
  warehouse: {
    project: link("project"),
    namespace: link("namespace"),
    ownership: grant(),
    pass_grants: grant(),
    manage_grants: grant("ownership", from("project", "security_admin")),
    describe: grant("ownership", "select", "create", from("project", "describe")),
    select: grant("ownership", "modify", from("project", "select")),
    create: grant("ownership", from("project", "create")),
    modify: grant("ownership", from("project", "modify"), from("project", "data_admin")),
    can_create_namespace: may("create"),
    can_delete: may("modify"),
    can_rename: may("modify"),
    can_activate: may("modify"),
    can_deactivate: may("modify"),
    can_update_storage: may("modify"),
    can_update_storage_credential: may("modify"),
    can_modify_soft_deletion: may("modify"),
    can_set_protection: may("modify"),
    can_set_format_version_policy: may("modify"),
    can_get_metadata: may("describe", from("namespace", "can_get_metadata")),
    can_get_config: may("can_get_metadata"),
    can_use: may("can_get_metadata"),
    can_include_in_list: may("can_get_metadata"),
    can_list_namespaces: may("can_get_metadata"),
    can_list_deleted_tabulars: may("can_get_metadata"),
    can_list_everything: may("describe"),
    can_get_all_tasks: may("describe"),
    ...grantsWithCreate,
    can_read_assignments: may(...Object.keys(grantsWithCreate)),
  },
  namespace: {
    parent: link("namespace", "warehouse"),
    child: link("namespace", "lakekeeper_table", "lakekeeper_view"),
    ownership: grant(),
    pass_grants: grant(),
    manage_grants: grant("ownership", from("parent", "manage_grants")),
    describe: grant("ownership", "select", "create", from("parent", "describe")),
    select: grant("ownership", "modify", from("parent", "select")),
    create: grant("ownership", from("parent", "create")),
    modify: grant("ownership", from("parent", "modify")),
    can_create_namespace: may("create"),
    can_create_table: may("create"),
    can_create_view: may("create"),
    can_delete: may("modify"),
    can_update_properties: may("modify"),
    can_set_protection: may("modify"),
    can_get_metadata: may("describe", from("child", "can_get_metadata")),
    can_include_in_list: may("can_get_metadata"),
    can_list_namespaces: may("can_get_metadata"),
    can_list_tables: may("can_get_metadata"),
    can_list_views: may("can_get_metadata"),
    can_list_everything: may("describe"),
    ...grantsWithCreate,
    can_read_assignments: may(...Object.keys(grantsWithCreate)),
  },
  lakekeeper_table: { ...tabular, can_read_data: may("select"), can_write_data: may("modify") },
  lakekeeper_view: { ...tabular, can_select: may("select") },
  // By these two the server finds the model that it has written, whatever else is in the store.
  auth_model_id: {},
  model_version: { openfga_id: link("auth_model_id") },
} as const satisfies Record<string, Readonly<Record<string, Relation>>>;

export type ObjectType = Exclude<keyof typeof types, "user" | "auth_model_id" | "model_version">;
/** What can be done to an object of a type. */
export type ActionOn<T extends ObjectType> = Extract<keyof (typeof types)[T], `can_${string}`>;

/** Relations that are assigned, by type, in the order in which they are listed. */
export const assignable = {
  server: ["admin", "operator"],
  project: ["project_admin", "security_admin", "data_admin", "role_creator", "describe", "select", "create", "modify"],
  warehouse: ["ownership", "pass_grants", "manage_grants", "describe", "select", "create", "modify"],
  namespace: ["ownership", "pass_grants", "manage_grants", "describe", "select", "create", "modify"],
  lakekeeper_table: ["ownership", "pass_grants", "manage_grants", "describe", "select", "modify"],
  lakekeeper_view: ["ownership", "pass_grants", "manage_grants", "describe", "select", "modify"],
} as const satisfies { [T in ObjectType]: readonly Extract<keyof (typeof types)[T], string>[] };

export const modelVersion = "4.7";

/** The model as OpenFGA's HTTP API takes it. */
export const authorizationModel = {
  schema_version: "1.1",
  type_definitions: Object.entries(types).map(([type, relations]: [string, Readonly<Record<string, Relation>>]) => {
    const names = Object.keys(relations);
    const metadata = names.map((name) => [
      name,
      { directly_related_user_types: relations[name]!.given.map((given) => ({ type: given })) },
    ]);
    return {
      type,
      relations: Object.fromEntries(names.map((name) => [name, relations[name]!.userset])),
      metadata: { relations: Object.fromEntries(metadata) as object },
    };
  }),
};
