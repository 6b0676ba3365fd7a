import { z } from "zod";
import type { ApiCall } from "./call.ts";
import { CloudflareError } from "./errors.ts";
import type { Script } from "./workers.ts";

const text = z.strictObject({ name: z.string(), type: z.enum(["plain_text", "secret_text"]), text: z.string() });
const json = z.strictObject({ name: z.string(), type: z.literal("json"), json: z.unknown() });

const metadataSchema = z.strictObject({
  main_module: z.string(),
  bindings: z.array(z.union([text, json])).optional(),
  compatibility_date: z.string().regex(/^\d{4}-\d\d-\d\d$/),
  compatibility_flags: z.array(z.string()).optional(),
  logpush: z.boolean().optional(),
  observability: z.strictObject({ enabled: z.boolean() }).optional(),
  usage_model: z.literal("standard").optional(),
});

/**
 * The module of an upload and what is said about it: a form with a part for the module and one called `metadata`.
 *
 * @throws CloudflareError, also for what Cloudflare takes and this stand-in does not: scripts that are no modules,
 *   several modules, bindings to anything but texts and JSON
 */
export async function readUpload(call: ApiCall): Promise<Pick<Script, "module" | "content" | "metadata">> {
  const parts = await readParts(call);
  const { metadata: described, ...modules } = parts;
  const { main_module: module, ...metadata } = readMetadata(described?.content);
  const { content, type } = modules[module] ?? {};
  if (content === undefined) throw invalid(`No such module: ${module}`);
  if (type !== "application/javascript+module") throw invalid(`The type of the part ${module} is ${type}`);
  if (Object.keys(modules).length > 1) throw invalid("This stand-in takes one module");
  return { module, content, metadata: metadata as Script["metadata"] };
}

async function readParts({ body, header }: ApiCall): Promise<Record<string, { content: string; type: string }>> {
  try {
    const form = await new Response(new Uint8Array(body), {
      headers: { "content-type": header("content-type") ?? "" },
    }).formData();
    const parts = [...form].map(async ([name, part]) =>
      typeof part === "string"
        ? ([name, { content: part, type: "" }] as const)
        : ([name, { content: await part.text(), type: part.type }] as const),
    );
    return Object.fromEntries(await Promise.all(parts));
  } catch {
    throw invalid("The body is no form");
  }
}

function readMetadata(content = ""): z.output<typeof metadataSchema> {
  try {
    return metadataSchema.parse(JSON.parse(content));
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const where = issue === undefined ? "" : ` at ${issue.path.join(".")}: ${issue.message}`;
    throw invalid(`The uploaded script has invalid metadata${where}`);
  }
}

function invalid(message: string): CloudflareError {
  return new CloudflareError(400, 10021, `${message}.`);
}
