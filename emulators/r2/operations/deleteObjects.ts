import { sendEmpty, sendXml } from "../answer.ts";
import { readText } from "../body.ts";
import { S3Error } from "../errors.ts";
import type { Call, Operation } from "../operation.ts";
import { parseXml } from "../xml.ts";

const action = "s3:DeleteObject";

export const deleteObject: Operation = {
  name: "DeleteObject",
  method: "DELETE",
  resource: "object",
  access: "object-write",
  action,
  async handle({ store, bucket, key, response }) {
    store.requireBucket(bucket);
    await store.delete(bucket, key);
    sendEmpty(response, 204);
  },
};

export const deleteObjects: Operation = {
  name: "DeleteObjects",
  method: "POST",
  resource: "bucket",
  subresource: ["delete"],
  access: "object-write",
  action,
  readsBody: true,
  authorizesItself: true,
  async handle(call) {
    const { store, bucket, headers, body, response } = call;
    store.requireBucket(bucket);
    const request = parseXml(await readText(body), "Delete");
    if (headers["content-md5"] === undefined && body.checksum() === undefined) {
      throw new S3Error("InvalidRequest", "Missing required header for this request: Content-MD5 or a checksum");
    }
    const keys = request.elements("Object").map((object) => object.requiredText("Key"));
    if (keys.length === 0 || keys.length > 1000) throw new S3Error("MalformedXML");
    const outcomes = [];
    for (const key of keys) outcomes.push(await deleteOne(call, key));
    const isQuiet = request.text("Quiet") === "true";
    sendXml(response, "DeleteResult", {
      Deleted: isQuiet ? [] : outcomes.filter((outcome) => !("Code" in outcome)),
      Error: outcomes.filter((outcome) => "Code" in outcome),
    });
  },
};

async function deleteOne(
  { store, bucket, authorize }: Call,
  key: string,
): Promise<{ Key: string; Code?: string; Message?: string }> {
  try {
    authorize({ action, access: "object-write", bucket, key });
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    return { Key: key, Code: error.code, Message: error.message };
  }
  await store.delete(bucket, key);
  return { Key: key };
}
