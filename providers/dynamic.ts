/* eslint-disable @typescript-eslint/no-require-imports -- The serialized stub is CommonJS, whatever this project is. */
import type * as NodeModule from "node:module";
import type * as pulumi from "@pulumi/pulumi";

type Implementation = Required<Pick<pulumi.dynamic.ResourceProvider, Method>>;
type Method = "configure" | "check" | "diff" | "create" | "read" | "update" | "delete";

/**
 * A provider that the engine can keep in state: each method loads the implementation from this checkout when it is
 * called. The serialized text depends on `module` alone, so a new release changes no resource, and a resource made by
 * an old release is read and deleted by today's code.
 *
 * @param module path of the implementation, relative to the folder of Pulumi.yaml (the provider process's cwd); its
 * default export is a `Provider`.
 */
export function provider(module: string): pulumi.dynamic.ResourceProvider {
  // Everything inside is serialized into state by the engine: no imports, nothing captured but `module`.
  const load = () => {
    const { createRequire } = require("node:module") as typeof NodeModule;
    return (createRequire(process.cwd() + "/")("./" + module) as { default: Implementation }).default;
  };
  return {
    configure: (request) => load().configure(request),
    check: (olds, news) => load().check(olds, news),
    diff: (id, olds, news) => load().diff(id, olds, news),
    create: (inputs) => load().create(inputs),
    read: (id, props) => load().read(id, props),
    update: (id, olds, news) => load().update(id, olds, news),
    delete: (id, props) => load().delete(id, props),
  };
}
