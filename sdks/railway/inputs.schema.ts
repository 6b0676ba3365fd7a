import { z } from "zod";

const error = "must be a port, 1 to 65535";

export const text = z.string({ error: "must be a text" }).min(1, { error: "must not be empty" });
export const port = z.int({ error }).min(1, { error }).max(65_535, { error });
