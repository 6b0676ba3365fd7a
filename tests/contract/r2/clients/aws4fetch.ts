import { XMLParser } from "fast-xml-parser";
import { bucket as lakehouse, errorCode, signer, type TestR2 } from "../support.ts";
import type { Client } from "./client.ts";
import { MiB } from "./world.ts";

const partSize = 5 * MiB;
const parser = new XMLParser({
  parseTagValue: false,
  isArray: (name) => ["Contents", "CommonPrefixes"].includes(name),
});

interface Page {
  Contents?: { Key: string }[];
  CommonPrefixes?: { Prefix: string }[];
  NextContinuationToken?: string;
}

/** It signs and sends; which requests make up an operation is for its user to know. */
export function aws4fetch(r2: TestR2): Client {
  return {
    with(keys) {
      const client = signer(keys);

      async function call(method: string, key: string, init: RequestInit = {}, bucket = lakehouse): Promise<Response> {
        const answer = await client.fetch(`${r2.url}/${bucket}/${key}`, { method, ...init });
        // It has no errors of its own: these are the status and the code of the answer.
        if (!answer.ok)
          throw Object.assign(new Error(), { name: `${answer.status} ${await errorCode(answer)}`.trim() });
        return answer;
      }
      const read = async (key: string, headers = {}, bucket = lakehouse) =>
        (await call("GET", key, { headers }, bucket)).text();

      async function entries(prefix: string, delimiter = "") {
        const names: string[] = [];
        const query = new URLSearchParams({ "list-type": "2", prefix, delimiter });
        for (;;) {
          const { ListBucketResult: page } = parser.parse(await read(`?${query.toString()}`)) as {
            ListBucketResult: Page;
          };
          for (const { Key } of page.Contents ?? []) names.push(Key.slice(prefix.length));
          for (const { Prefix } of page.CommonPrefixes ?? []) names.push(Prefix.slice(prefix.length));
          if (page.NextContinuationToken === undefined) return names.sort();
          query.set("continuation-token", page.NextContinuationToken);
        }
      }
      return {
        async put(key, body) {
          await call("PUT", key, { body });
        },
        get: (key, bucket) => read(key, {}, bucket),
        range: (key, first, last) => read(key, { range: `bytes=${first}-${last}` }),
        async size(key) {
          return Number((await call("HEAD", key)).headers.get("content-length"));
        },
        list: (prefix) => entries(prefix),
        level: (prefix) => entries(prefix, "/"),
        async delete(key) {
          await call("DELETE", key);
        },
        async copy(from, to) {
          await call("PUT", to, { headers: { "x-amz-copy-source": `${lakehouse}/${from}` } });
        },
        async upload(key, mebibytes) {
          const content = Buffer.alloc(mebibytes * MiB, "x");
          const begun = await (await call("POST", `${key}?uploads`)).text();
          const { UploadId } = (parser.parse(begun) as { InitiateMultipartUploadResult: { UploadId: string } })
            .InitiateMultipartUploadResult;
          let parts = "";
          for (let number = 1; (number - 1) * partSize < content.length; number++) {
            const body = content.subarray((number - 1) * partSize, number * partSize);
            const { headers } = await call("PUT", `${key}?partNumber=${number}&uploadId=${UploadId}`, { body });
            parts += `<Part><PartNumber>${number}</PartNumber><ETag>${headers.get("etag")}</ETag></Part>`;
          }
          const body = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
          await call("POST", `${key}?uploadId=${UploadId}`, { body });
        },
        async create(key, body) {
          await call("PUT", key, { body, headers: { "if-none-match": "*" } });
        },
        getUnless: (key, etag) => read(key, { "if-none-match": etag }),
      };
    },
  };
}
