import type * as pulumi from "@pulumi/pulumi";

/**
 * How what must not be lost is kept. `protect` refuses to delete it; `dependsOn` names the resource that refuses a way
 * back, so that nothing gives its protection up on a way that is not taken.
 */
export type Protection = Required<Pick<pulumi.CustomResourceOptions, "protect" | "dependsOn">>;
