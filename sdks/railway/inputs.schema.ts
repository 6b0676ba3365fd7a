import { z } from "zod";

const error = "must be a port, 1 to 65535";

export const text = z.string({ error: "must be a text" }).min(1, { error: "must not be empty" });
export const port = z.int({ error }).min(1, { error }).max(65_535, { error });

/** A service in an environment of a project, which most resources belong to. */
export interface ServicePlace {
  readonly projectId: string;
  readonly environmentId: string;
  readonly serviceId: string;
}

export const servicePlace = { projectId: text, environmentId: text, serviceId: text };
