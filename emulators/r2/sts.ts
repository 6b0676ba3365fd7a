import type { IncomingMessage, ServerResponse } from "node:http";
import { isoDate } from "./answer.ts";
import { identify } from "./authentication.ts";
import { S3Error } from "./errors.ts";
import { PolicyError, policyGrant } from "./policy.ts";
import type { RequestNotes } from "../requestLog.ts";
import { readSignature, sha256, verifySignature } from "./sigv4.ts";
import { parseTarget } from "./target.ts";
import { mint, type Account, type Scope } from "./temporaryCredentials.ts";
import { toXml } from "./xml.ts";

const namespace = "https://sts.amazonaws.com/doc/2011-06-15/";

class StsError extends Error {
  override readonly name = "StsError";
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/**
 * Answers `POST /` of the Security Token Service, which R2 itself does not have: with it a catalog can vend credentials
 * from a plain access key. AssumeRole needs no role; its session policy limits what the session may do.
 */
export async function handleSts(
  request: IncomingMessage,
  response: ServerResponse,
  account: Account,
  now: number,
  notes: RequestNotes,
): Promise<void> {
  let status = 200;
  let answer: string;
  const requestId = String(response.getHeader("x-amz-request-id"));
  try {
    answer = await assumeRole(request, account, now, requestId, notes);
  } catch (error) {
    if (!(error instanceof StsError) && !(error instanceof S3Error)) throw error;
    status = error.status;
    notes.error = error.code;
    answer = stsErrorXml("Sender", error.code, error.message, requestId);
  }
  response.writeHead(status, { "content-type": "text/xml", "content-length": Buffer.byteLength(answer) }).end(answer);
}

export function stsErrorXml(type: "Sender" | "Receiver", code: string, message: string, requestId = ""): string {
  return toXml(
    "ErrorResponse",
    { Error: { Type: type, Code: code, Message: message }, RequestId: requestId },
    namespace,
  );
}

async function assumeRole(
  request: IncomingMessage,
  account: Account,
  now: number,
  requestId: string,
  notes: RequestNotes,
): Promise<string> {
  const target = parseTarget(request.url ?? "/");
  const signature = readSignature(request, target, "sts", now);
  notes.accessKeyId = signature.accessKeyId;
  const { secret, token } = identify(account, signature, request, now);
  const body = await readForm(request);
  verifySignature(signature, secret, request, target, sha256(body));

  const form = new URLSearchParams(body);
  const action = form.get("Action") ?? "";
  notes.operation = action;
  if (form.get("Version") !== "2011-06-15" || action !== "AssumeRole") {
    throw new StsError("InvalidAction", `The action ${action} is not implemented.`);
  }
  if (token === undefined) throw new StsError("AccessDenied", "A temporary credential cannot assume a role.", 403);
  const roleSession = form.get("RoleSessionName") ?? "";
  if (!/^[\w+=,.@-]{2,64}$/.test(roleSession)) throw validationError("RoleSessionName", roleSession);
  const scope: Scope = { roleSession };
  const policy = readPolicy(form.get("Policy"));
  if (policy !== undefined) scope.policy = policy;

  const credentials = mint(account, token, scope, readDuration(form.get("DurationSeconds")), now);
  return toXml(
    "AssumeRoleResponse",
    {
      AssumeRoleResult: {
        AssumedRoleUser: {
          Arn: `arn:aws:sts::${account.id}:assumed-role/${token.id}/${roleSession}`,
          AssumedRoleId: `${token.id}:${roleSession}`,
        },
        Credentials: {
          AccessKeyId: credentials.accessKeyId,
          SecretAccessKey: credentials.secretAccessKey,
          SessionToken: credentials.sessionToken,
          Expiration: isoDate(credentials.expires.getTime()),
        },
      },
      ResponseMetadata: { RequestId: requestId },
    },
    namespace,
  );
}

function readPolicy(policy: string | null): string | undefined {
  if (policy === null) return undefined;
  if (policy.length > 2048) throw new StsError("PackedPolicyTooLarge", "The policy is longer than 2048 characters.");
  try {
    policyGrant(policy);
  } catch (error) {
    if (error instanceof PolicyError) throw new StsError("MalformedPolicyDocument", error.message);
    throw error;
  }
  return policy;
}

/** In seconds: from AWS's quarter of an hour to the week that R2's temporary credentials live at most. */
function readDuration(text: string | null): number {
  const seconds = Number(text ?? "3600");
  if (!Number.isInteger(seconds) || seconds < 900 || seconds > 604_800)
    throw validationError("DurationSeconds", text ?? "");
  return seconds;
}

function validationError(name: string, value: string): StsError {
  return new StsError("ValidationError", `The value '${value}' of ${name} is not valid.`);
}

async function readForm(request: IncomingMessage): Promise<string> {
  if (request.headers["content-type"]?.split(";")[0] !== "application/x-www-form-urlencoded") {
    throw new StsError("InvalidAction", "The request must be a form.");
  }
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += chunk as string;
    if (body.length > 65_536) throw new StsError("ValidationError", "The form is too long.");
  }
  return body;
}
