/** R2 has another host for each: `<account id>.<jurisdiction>.r2.cloudflarestorage.com`. On loopback it is another port. */
export const jurisdictions = ["eu", "fedramp"] as const;

export type Jurisdiction = (typeof jurisdictions)[number];
