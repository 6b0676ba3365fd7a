import { z } from "zod";
import { UserError } from "./errors.ts";
import { HttpClient, type HttpError } from "./http.ts";

export interface TemporaryCredentialsRequest {
  readonly bucket: string;
  /** S3 access key id of the token that mints, which is the token's id. */
  readonly parentAccessKeyId: string;
  readonly permission: "admin-read-write" | "admin-read-only" | "object-read-write" | "object-read-only";
  /** At most 604800. */
  readonly ttlSeconds: number;
}

export interface TemporaryCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

const answerSchema = z.object({
  result: z.object({ accessKeyId: z.string(), secretAccessKey: z.string(), sessionToken: z.string() }),
});

/** Cloudflare's API for R2, as far as Lakekeeper uses it. `CLOUDFLARE_BASE_URL` is for an emulator. */
export class CloudflareR2 {
  readonly #accountId: string;
  readonly #token: string;

  constructor(accountId: string, token: string) {
    this.#accountId = accountId;
    this.#token = token;
  }

  /** @throws UserError that tells what about the token or the account is wrong */
  async temporaryCredentials(body: TemporaryCredentialsRequest): Promise<TemporaryCredentials> {
    const http = new HttpClient({
      service: "Cloudflare",
      baseUrl: process.env["CLOUDFLARE_BASE_URL"] ?? "https://api.cloudflare.com/client/v4",
      authorization: () => Promise.resolve(`Bearer ${this.#token}`),
      remedy,
    });
    try {
      const path = `/accounts/${this.#accountId}/r2/temp-access-credentials`;
      const { json } = await http.request({ method: "POST", path, body, repeatable: true });
      const answer = answerSchema.safeParse(json);
      if (!answer.success)
        throw new UserError("Cloudflare answered the request for temporary credentials without any.");
      return answer.data.result;
    } finally {
      await http.close();
    }
  }
}

function remedy({ status }: HttpError): string | undefined {
  switch (status) {
    case 400:
      return "Check that lakekeeper:r2Credentials.accessKeyId is the id of the token whose value is r2Credentials.token.";
    case 401:
    case 403:
      return "Either Cloudflare does not know the token (lakekeeper:r2Credentials.token, when it is provided; it may have expired or been revoked), or it may not mint credentials: it has to be an account token with Admin Read & Write on R2, of this account (lakekeeper:r2.accountId).";
    case 404:
      return "Check lakekeeper:r2.accountId and lakekeeper:bucket.";
    default:
      return undefined;
  }
}
