import * as pulumi from "@pulumi/pulumi";

/**
 * A value that waits for a resource without coming from it. What a resource that is about to change puts out is unknown
 * in a preview, all but its id: without this, a restarted process would seem to change everything behind it.
 */
export function after<T>(resource: pulumi.CustomResource, value: pulumi.Input<T>): pulumi.Output<T> {
  return pulumi.all([resource.id, value]).apply(([, known]) => known) as pulumi.Output<T>;
}
