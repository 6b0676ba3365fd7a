import {
  accountId,
  bucket,
  errorCode,
  parentKeys,
  signer,
  startTestR2,
  token,
  type Keys,
  type TestR2,
} from "./support.ts";

let r2: TestR2;

beforeAll(async () => {
  r2 = await startTestR2();
});
afterAll(() => r2.stop());
afterEach(() => {
  r2.clock.offset = 0;
});

const location = `${bucket}/01a22e70/vended-test`;

/** The session policy that Lakekeeper 0.13.3 sends for a location it vends credentials for. */
const policy = {
  Version: "2012-10-17",
  Statement: [
    {
      Sid: "TableAccess",
      Effect: "Allow",
      Action: [
        "s3:GetObject",
        "s3:GetObjectVersion",
        "s3:PutObject",
        "s3:DeleteObject",
        "s3:AbortMultipartUpload",
        "s3:ListMultipartUploadParts",
      ],
      Resource: [`arn:aws:s3:::${location}/*`],
    },
    {
      Sid: "ListBucketForFolder",
      Effect: "Allow",
      Action: "s3:ListBucket",
      Resource: `arn:aws:s3:::${bucket}`,
      Condition: { StringLike: { "s3:prefix": "01a22e70/vended-test/*" } },
    },
    { Effect: "Allow", Action: "s3:GetBucketLocation", Resource: `arn:aws:s3:::${bucket}` },
  ],
};

const form = {
  Action: "AssumeRole",
  Version: "2011-06-15",
  RoleSessionName: "lakekeeper-sts",
  DurationSeconds: "3600",
  Policy: JSON.stringify(policy),
};

function assumeRole(fields: Partial<typeof form>, keys = parentKeys, service = "sts"): Promise<Response> {
  return signer(keys, "auto", service).fetch(`${r2.url}/`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(fields).toString(),
  });
}

function element(xml: string, name: string): string {
  return new RegExp(`<${name}>([^<]+)</${name}>`).exec(xml)?.[1] ?? "";
}

async function session(fields: Partial<typeof form> = form): Promise<Keys> {
  const xml = await (await assumeRole(fields)).text();
  return {
    accessKeyId: element(xml, "AccessKeyId"),
    secretAccessKey: element(xml, "SecretAccessKey"),
    sessionToken: element(xml, "SessionToken"),
  };
}

async function attempt(keys: Keys, method: string, path: string, body?: string): Promise<string> {
  const response = await signer(keys).fetch(`${r2.url}/${path}`, { method, ...(body !== undefined && { body }) });
  return `${response.status} ${response.ok ? "" : await errorCode(response)}`.trim();
}

test("AssumeRole answers as the AWS SDKs expect", async () => {
  const response = await assumeRole(form);
  const xml = await response.text();
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/xml"]);
  expect(xml).toContain('<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>');
  expect(element(xml, "Arn")).toBe(`arn:aws:sts::${accountId}:assumed-role/${token.id}/lakekeeper-sts`);
  const lifetime = Date.parse(element(xml, "Expiration")) - Date.now();
  expect(Math.abs(lifetime - 3_600_000)).toBeLessThan(5_000);
});

describe("a session may do what its policy allows", () => {
  test.each([
    ["PUT", `${location}/metadata/test`, "content", "200"],
    ["GET", `${location}/metadata/test`, undefined, "200"],
    ["HEAD", `${location}/metadata/test`, undefined, "200"],
    ["POST", `${location}/metadata/large?uploads`, undefined, "200"],
    ["GET", `${bucket}?list-type=2&prefix=01a22e70/vended-test/`, undefined, "200"],
    ["GET", `${bucket}?location`, undefined, "200"],
    ["DELETE", `${location}/metadata/test`, undefined, "204"],
    ["PUT", `${bucket}/01a22e70/metadata/forbidden-write-test`, "content", "403 AccessDenied"],
    ["PUT", `${location}-beside/test`, "content", "403 AccessDenied"],
    ["GET", `${bucket}?list-type=2&prefix=01a22e70/`, undefined, "403 AccessDenied"],
    ["GET", `${bucket}?list-type=2`, undefined, "403 AccessDenied"],
    ["GET", "", undefined, "403 AccessDenied"],
    ["DELETE", bucket, undefined, "403 AccessDenied"],
  ])("%s %s", async (method, path, body, expected) => {
    expect(await attempt(await session(), method, path, body)).toBe(expected);
  });

  test("until it expires", async () => {
    // The shortest session outlives what clocks may differ by, so it begins a little in the past.
    r2.clock.offset = -840;
    const keys = await session({ ...form, DurationSeconds: "900" });
    r2.clock.offset = 61;
    expect(await attempt(keys, "GET", `${bucket}?location`)).toBe("400 ExpiredToken");
  });

  test("and a denial outweighs an allowance", async () => {
    const everything = { Effect: "Allow", Action: "s3:*", Resource: "*" };
    const denial = { Effect: "Deny", Action: "s3:Put*", Resource: `arn:aws:s3:::${bucket}/locked/?` };
    const keys = await session({ ...form, Policy: JSON.stringify({ Statement: [everything, denial] }) });
    expect(await attempt(keys, "PUT", `${bucket}/locked/a`, "x")).toBe("403 AccessDenied");
    expect(await attempt(keys, "PUT", `${bucket}/locked/ab`, "x")).toBe("200");
  });

  test("and without a policy all that its parent may", async () => {
    const { Action, Version, RoleSessionName } = form;
    expect(await attempt(await session({ Action, Version, RoleSessionName }), "PUT", `${bucket}/anywhere`, "x")).toBe(
      "200",
    );
  });
});

describe("AssumeRole is refused", () => {
  const allow = { Effect: "Allow", Action: "s3:GetObject", Resource: "*" };
  const statement = (more: object): string => JSON.stringify({ Statement: [{ ...allow, ...more }] });

  test.each([
    ["another action", { Action: "GetSessionToken" }, "400 InvalidAction"],
    ["no version", { Version: "" }, "400 InvalidAction"],
    ["too short a time", { DurationSeconds: "899" }, "400 ValidationError"],
    ["a time that is none", { DurationSeconds: "soon" }, "400 ValidationError"],
    ["a bad session name", { RoleSessionName: "a b" }, "400 ValidationError"],
    ["a policy that is no JSON", { Policy: "{" }, "400 MalformedPolicyDocument"],
    [
      "a condition that would be ignored",
      { Policy: statement({ Condition: { IpAddress: { "aws:SourceIp": "::1" } } }) },
      "400 MalformedPolicyDocument",
    ],
    ["an element that would be ignored", { Policy: statement({ NotResource: "*" }) }, "400 MalformedPolicyDocument"],
    ["a policy that is too long", { Policy: statement({ Sid: "x".repeat(2048) }) }, "400 PackedPolicyTooLarge"],
  ])("for %s", async (_what, fields, expected) => {
    const response = await assumeRole({ ...form, ...fields });
    expect(`${response.status} ${await errorCode(response)}`).toBe(expected);
  });

  test("with a wrong secret, for another service, and from a session", async () => {
    const code = async (answer: Promise<Response>): Promise<string> => errorCode(await answer);
    expect(await code(assumeRole(form, { ...parentKeys, secretAccessKey: "wrong" }))).toBe("SignatureDoesNotMatch");
    expect(await code(assumeRole(form, parentKeys, "s3"))).toBe("AuthorizationHeaderMalformed");
    expect(await code(assumeRole(form, await session()))).toBe("AccessDenied");
  });
});
