export { Environment, type EnvironmentArgs } from "./environment.ts";
export { Project, type ProjectArgs } from "./project.ts";
export { Service, type ServiceArgs, type ServiceSettings } from "./service.ts";
export { VariableCollection, type VariableCollectionArgs } from "./variableCollection.ts";
