import { mkdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { JWK } from "jose";
import { z } from "zod";
import { UserError } from "../clients/errors.ts";
import { checkFailure, checkInputs, configure, hasUnknown, type Provider } from "./provider.ts";

export interface IssuerDocumentsInputs {
  directory: string;
  issuer: string;
  jwks: { keys: JWK[] };
}

export interface IssuerDocumentsOutputs extends IssuerDocumentsInputs {
  documents: Record<string, string>;
}

const DISCOVERY = ".well-known/openid-configuration";
const KEYS = "jwks.json";

/**
 * The documents of a static OpenID issuer, from path below the issuer URL to JSON text. Lakekeeper 0.13.3 reads
 * `issuer` and `jwks_uri`; the other fields are those that OpenID Discovery requires of an issuer that only signs.
 */
export function issuerDocuments(issuer: string, jwksUri: string, jwks: { keys: JWK[] }): Record<string, string> {
  const discovery = {
    issuer,
    jwks_uri: jwksUri,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(jwks.keys.map((key) => key.alg))],
  };
  const text = (document: object) => JSON.stringify(document, null, 2) + "\n";
  return { [DISCOVERY]: text(discovery), [KEYS]: text(jwks) };
}

/** Members of a JWK that belong to its owner alone (RFC 7518, section 6). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

const schema = z.object({
  directory: z.string().min(1, "must be the path of a folder"),
  issuer: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }),
  jwks: z.object({
    keys: z
      .array(
        z.looseObject({
          kid: z.string("must be given: Lakekeeper finds a key by it"),
          // One symmetric key makes Lakekeeper 0.13.3 refuse the whole set.
          kty: z.enum(["RSA", "EC", "OKP"], "must be RSA, EC or OKP"),
          alg: z.string("must be given"),
        }),
      )
      .min(1, "must hold a key"),
  }),
});

function documentsFor({ issuer, jwks }: IssuerDocumentsInputs): Record<string, string> {
  return issuerDocuments(issuer, `${issuer.replace(/\/$/, "")}/${KEYS}`, jwks);
}

/** Whatever of the documents is in the folder. */
async function readDocuments(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const path of [DISCOVERY, KEYS]) {
    try {
      found[path] = await readFile(join(directory, path), "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw cannot("read", join(directory, path), error);
    }
  }
  return found;
}

/** Keys first, and each file at once: whoever reads meanwhile finds a whole document, and no link to a missing one. */
async function writeDocuments(inputs: IssuerDocumentsInputs): Promise<IssuerDocumentsOutputs> {
  const documents = documentsFor(inputs);
  for (const path of [KEYS, DISCOVERY]) {
    const target = join(inputs.directory, path);
    const draft = `${target}.${process.pid}.new`;
    try {
      await mkdir(dirname(target), { recursive: true });
      await writeFile(draft, documents[path]!);
      await rename(draft, target);
    } catch (error) {
      await rm(draft, { force: true }).catch(() => {}); // what matters is why it could not be written
      throw cannot("write", target, error);
    }
  }
  return { ...inputs, documents };
}

function cannot(verb: string, path: string, cause: unknown): UserError {
  const reason = (cause as Error).message;
  return new UserError(
    `Cannot ${verb} the issuer document ${path}: ${reason}. Make the folder writable and run \`pulumi up\` again.`,
    { cause },
  );
}

const provider: Provider<IssuerDocumentsInputs, IssuerDocumentsOutputs> = {
  configure,

  async check(_olds, news) {
    const result = checkInputs(schema, news, { secrets: ["jwks"] });
    const keys = result.failures.length === 0 && !hasUnknown(news.jwks) ? news.jwks.keys : [];
    for (const key of keys) {
      const leaked = PRIVATE_MEMBERS.filter((member) => member in key);
      if (leaked.length === 0) continue;
      result.failures.push(
        checkFailure(`jwks: key ${key.kid} has private members (${leaked.join(", ")}): publish its public half only`),
      );
    }
    return result;
  },

  async diff(_id, olds, news) {
    if (olds.directory !== news.directory) return { changes: true, replaces: ["directory"] };
    if (hasUnknown(news)) return { changes: true };
    const wanted = documentsFor(news);
    const inPlace = isDeepStrictEqual(await readDocuments(news.directory), wanted);
    return { changes: !inPlace || !isDeepStrictEqual(olds.documents, wanted) };
  },

  async create(inputs) {
    return { id: inputs.directory, outs: await writeDocuments(inputs) };
  },

  async read(id, props) {
    const documents = await readDocuments(props.directory);
    return Object.keys(documents).length === 0 ? {} : { id, props: { ...props, documents } };
  },

  async update(_id, _olds, news) {
    return { outs: await writeDocuments(news) };
  },

  async delete(_id, { directory }) {
    for (const path of [DISCOVERY, KEYS]) await rm(join(directory, path), { force: true });
    await rmdir(join(directory, dirname(DISCOVERY))).catch(() => {}); // something else lives there: not ours to remove
  },
};

export default provider;
