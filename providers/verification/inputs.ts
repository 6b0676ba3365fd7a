import { z } from "zod";
import type { S3Access } from "../../clients/s3.ts";
import { connectionSchema, identitySchema, type Connection, type Identity } from "../../clients/token.ts";

export interface VerificationInputs {
  connection: Connection;
  readerToken: string;
  /** In place of the token. */
  reader?: Identity;
  /** May read and not write; undefined where everybody may do everything. */
  onlyReader?: Identity;
  warehouse: string;
  warehouseId: string;
  location: string;
  namespaces: string[];
  smokeTable: string;
  tableRequired: boolean;
  vending: "off" | "auto" | "required";
  writeProbe: boolean;
  storage?: S3Access;
  triggers?: unknown;
}

const text = z.string("must be a text").min(1, "must not be empty");

export const verificationSchema = z
  .object({
    connection: connectionSchema,
    readerToken: z.string("must be a text"),
    reader: identitySchema.optional(),
    onlyReader: identitySchema.optional(),
    warehouse: text,
    warehouseId: z.uuid("must be the id of the warehouse"),
    location: z.string().regex(/^s3:\/\/[^/]+(\/.*[^/])?$/, "must be s3://bucket or s3://bucket/prefix"),
    namespaces: z.array(text, "must be a list of names such as main.default"),
    smokeTable: z
      .string()
      .regex(/^([^.]+(\.[^.]+)+)?$/, "must be namespace.table, such as main.default.t000, or empty"),
    tableRequired: z.boolean("must be true or false"),
    vending: z.enum(["off", "auto", "required"], "must be off, auto or required"),
    writeProbe: z.boolean("must be true or false"),
    storage: z
      .object({
        endpoint: z.url({ protocol: /^https?$/, error: "must be an http(s) URL" }),
        region: text,
        accessKeyId: text,
        secretAccessKey: text,
      })
      .optional(),
  })
  .refine(({ reader, readerToken }) => reader !== undefined || readerToken !== "", {
    path: ["readerToken"],
    error: "must not be empty",
  });
