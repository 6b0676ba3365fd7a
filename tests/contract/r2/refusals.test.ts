import { connect } from "node:net";
import { createHash, createHmac } from "node:crypto";
import { bucket, errorCode, parentKeys, signer, startTestR2, type TestR2 } from "./support.ts";

let r2: TestR2;
let url: string;

beforeAll(async () => {
  r2 = await startTestR2();
  url = `${r2.url}/${bucket}/object`;
  await signer().fetch(url, { method: "PUT", body: "content" });
});
afterAll(() => r2.stop());
afterEach(() => {
  r2.clock.offset = 0;
});

/** E.g. `403 SignatureDoesNotMatch`; the code is missing in answers without a body. */
async function outcome(answer: Response | Promise<Response>): Promise<string> {
  const response = await answer;
  return `${response.status} ${await errorCode(response)}`.trim();
}

/** A signed request that is changed after it was signed. */
async function tampered(init: RequestInit, change: (headers: Headers) => void, to = url): Promise<string> {
  const request = await signer().sign(url, init);
  const headers = new Headers(request.headers);
  change(headers);
  const body = init.method === "PUT" ? { body: await request.arrayBuffer() } : {};
  return outcome(fetch(to, { method: request.method, headers, ...body }));
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("signatures in the header", () => {
  test("are accepted when right, in each region that R2 knows", async () => {
    for (const region of ["auto", "us-east-1", "weur"]) {
      expect((await signer(parentKeys, region).fetch(url)).status).toBe(200);
    }
  });

  test.each([
    ["nobody's", () => fetch(url), "400 InvalidArgument"],
    ["an unknown key's", () => signer({ ...parentKeys, accessKeyId: "2".repeat(32) }).fetch(url), "401 Unauthorized"],
    [
      "a key's that is no R2 key",
      () => signer({ ...parentKeys, accessKeyId: "AKIA" }).fetch(url),
      "400 InvalidArgument",
    ],
    [
      "a wrong secret's",
      () => signer({ ...parentKeys, secretAccessKey: "wrong" }).fetch(url),
      "403 SignatureDoesNotMatch",
    ],
    ["one for another region", () => signer(parentKeys, "eu-central-1").fetch(url), "400 InvalidRegionName"],
    ["one for another service", () => signer(parentKeys, "auto", "sts").fetch(url), "400 AuthorizationHeaderMalformed"],
    [
      "one that is none",
      () => fetch(url, { headers: { authorization: "Bearer x" } }),
      "400 AuthorizationHeaderMalformed",
    ],
  ])("are refused: %s", async (_what, send, expected) => {
    expect(await outcome(send())).toBe(expected);
  });

  test("are refused when the clocks differ by more than a quarter of an hour", async () => {
    r2.clock.offset = 14 * 60;
    expect((await signer().fetch(url)).status).toBe(200);
    r2.clock.offset = 16 * 60;
    expect(await outcome(signer().fetch(url))).toBe("403 RequestTimeTooSkewed");
    r2.clock.offset = -16 * 60;
    expect(await outcome(signer().fetch(url))).toBe("403 RequestTimeTooSkewed");
  });

  test("are refused when anything signed was changed", async () => {
    const put = { method: "PUT", body: "new content" };
    expect(await tampered({}, () => undefined, `${url}2`)).toBe("403 SignatureDoesNotMatch");
    expect(await tampered({}, () => undefined, `${url}?versionless=1`)).toBe("403 SignatureDoesNotMatch");
    expect(await tampered({ headers: { "x-amz-meta-a": "1" } }, (headers) => headers.set("x-amz-meta-a", "2"))).toBe(
      "403 SignatureDoesNotMatch",
    );
    expect(await tampered(put, (headers) => headers.set("x-amz-meta-added", "1"))).toBe("403 AccessDenied");
    expect(await (await signer().fetch(url)).text()).toBe("content");
  });

  test("are refused when the body was changed, and the object stays as it was", async () => {
    const headers = { "x-amz-content-sha256": sha256("what was signed") };
    const put = signer().fetch(url, { method: "PUT", body: "what was sent!!", headers });
    expect(await outcome(put)).toBe("400 XAmzContentSHA256Mismatch");
    expect(await (await signer().fetch(url)).text()).toBe("content");
  });
});

describe("presigned URLs", () => {
  const presign = async (init: RequestInit = {}, seconds = 60): Promise<string> => {
    const address = new URL(url);
    address.searchParams.set("X-Amz-Expires", String(seconds));
    return (await signer().sign(address, { ...init, aws: { signQuery: true } })).url;
  };

  test("read and write without any header", async () => {
    expect(await (await fetch(await presign())).text()).toBe("content");
    const put = await fetch(await presign({ method: "PUT" }), { method: "PUT", body: "content" });
    expect(put.status).toBe(200);
  });

  test("are good for one method, one object and a time", async () => {
    expect(await outcome(fetch(await presign(), { method: "DELETE" }))).toBe("403 SignatureDoesNotMatch");
    expect(await outcome(fetch((await presign()).replace("/object", "/other")))).toBe("403 SignatureDoesNotMatch");
    expect(await outcome(fetch(await presign({}, 604_801)))).toBe("400 InvalidArgument");
    const address = await presign({}, 60);
    r2.clock.offset = 61;
    expect(await outcome(fetch(address))).toBe("400 ExpiredRequest");
  });
});

describe("what R2 does not have", () => {
  test.each([
    ["GET", "?acl", "GetObjectAcl"],
    ["PUT", "?tagging", "PutObjectTagging"],
    ["GET", "?versionId=1", "GetObjectVersion"],
    ["POST", "?select&select-type=2", "PostObjectContent"],
    ["PATCH", "", "PatchObject"],
  ])("%s %s is refused by its name", async (method, query, name) => {
    const response = await signer().fetch(`${url}${query}`, { method });
    expect([response.status, await response.text()]).toEqual([
      501,
      expect.stringContaining(`${name} is not implemented`),
    ]);
  });

  test.each([
    ["x-amz-acl", "public-read"],
    ["x-amz-tagging", "a=b"],
    ["x-amz-server-side-encryption", "aws:kms"],
    ["x-amz-object-lock-mode", "GOVERNANCE"],
  ])("the header %s is refused", async (name, value) => {
    const response = await signer().fetch(url, { method: "PUT", body: "x", headers: { [name]: value } });
    const message = `Header &apos;${name}&apos; with value &apos;${value}&apos; not implemented`;
    expect([response.status, await response.text()]).toEqual([501, expect.stringContaining(message)]);
  });

  test("an unknown storage class is refused", async () => {
    const headers = { "x-amz-storage-class": "GLACIER" };
    expect(await outcome(signer().fetch(url, { method: "PUT", body: "x", headers }))).toBe("400 InvalidArgument");
  });
});

describe("bodies", () => {
  test("without a length are refused", async () => {
    const body = new Blob(["x"]).stream();
    const request = await signer().sign(url, { method: "PUT" });
    const put = fetch(url, { method: "PUT", headers: request.headers, body, duplex: "half" });
    expect(await outcome(put)).toBe("411 MissingContentLength");
  });

  test("that break off leave nothing", async () => {
    const target = new URL(`${r2.url}/${bucket}/broken-off`);
    const { headers } = await signer().sign(target, { method: "PUT" });
    const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
    const socket = connect(r2.port, "127.0.0.1");
    socket.end(`PUT ${target.pathname} HTTP/1.1\r\nhost: ${target.host}\r\n${lines}content-length: 100\r\n\r\nhalf`);
    await new Promise((resolve) => socket.resume().once("close", resolve));
    expect(await outcome(signer().fetch(target))).toBe("404 NoSuchKey");
  });

  test("of XML that is not what it should be are refused", async () => {
    const post = (body: string): Promise<Response> =>
      signer().fetch(`${r2.url}/${bucket}?delete`, {
        method: "POST",
        body,
        headers: { "content-md5": createHash("md5").update(body).digest("base64") },
      });
    for (const body of ["", "<Delete>", "<Other/>", "<Delete><Object/></Delete>", "<Delete></Delete>"]) {
      expect(await outcome(post(body))).toBe("400 MalformedXML");
    }
  });

  test("of DeleteObjects without a checksum are refused", async () => {
    const body = "<Delete><Object><Key>object</Key></Object></Delete>";
    expect(await outcome(signer().fetch(`${r2.url}/${bucket}?delete`, { method: "POST", body }))).toBe(
      "400 InvalidRequest",
    );
    expect((await signer().fetch(url)).status).toBe(200);
  });
});

describe("bodies signed chunk by chunk", () => {
  const chunks = ["a".repeat(8192), "the rest", ""];
  const algorithm = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";

  /** An upload of `chunks` as the S3 documentation describes it, `spoil` applied to the framed body. */
  async function send(to: string, spoil = (body: string): string => body): Promise<Response> {
    const headers = {
      "x-amz-content-sha256": algorithm,
      "x-amz-decoded-content-length": String(chunks.join("").length),
      "content-encoding": "aws-chunked",
    };
    const request = await signer().sign(to, { method: "PUT", headers });
    const authorization = request.headers.get("authorization")!;
    const timestamp = request.headers.get("x-amz-date")!;
    const scope = /Credential=[^/]+\/([^,]+)/.exec(authorization)![1]!;
    const key = scope
      .split("/")
      .reduce<string | Buffer>(
        (secret, step) => createHmac("sha256", secret).update(step).digest(),
        `AWS4${parentKeys.secretAccessKey}`,
      );
    let previous = /Signature=(\w+)/.exec(authorization)![1]!;
    let body = "";
    for (const chunk of chunks) {
      const text = ["AWS4-HMAC-SHA256-PAYLOAD", timestamp, scope, previous, sha256(""), sha256(chunk)].join("\n");
      previous = createHmac("sha256", key).update(text).digest("hex");
      body += `${chunk.length.toString(16)};chunk-signature=${previous}\r\n${chunk}\r\n`;
    }
    return fetch(to, { method: "PUT", headers: request.headers, body: spoil(body) });
  }

  test("are refused, as R2 refuses them", async () => {
    expect(await outcome(send(url))).toBe("501 NotImplemented");
  });

  test("are verified when they are allowed", async () => {
    const lenient = await startTestR2({ signedChunks: true });
    try {
      const to = `${lenient.url}/${bucket}/chunked`;
      expect((await send(to)).status).toBe(200);
      expect(await (await signer().fetch(to)).text()).toBe(chunks.join(""));
      expect(await outcome(send(to, (body) => body.replace("rest", "best")))).toBe("403 SignatureDoesNotMatch");
      expect(await outcome(send(to, (body) => body.slice(0, body.indexOf("\r\n0;") + 2)))).toBe("400 IncompleteBody");
      expect(await (await signer().fetch(to)).text()).toBe(chunks.join(""));
    } finally {
      await lenient.stop();
    }
  });
});
