import { createHash } from "node:crypto";
import type * as pulumi from "@pulumi/pulumi";
import { readConfig } from "../../config.ts";
import { type Declared, runMocked, settle } from "../support/mockedProgram.ts";

// The bucket and the token at Cloudflare, as the program declares them.

const ACCOUNT = "0123456789abcdef0123456789abcdef";

interface Made {
  readonly declared: Declared[];
  readonly credential: pulumi.Output<unknown>;
  readonly profile: pulumi.Output<unknown>;
}

async function storage(r2: object, more: Record<string, string> = {}): Promise<Made> {
  const config = readConfig({
    "lakekeeper:platform": "railway",
    "lakekeeper:sqlCatalog": "sqlite:///catalog.db",
    "cloudflare:apiToken": "x",
    "lakekeeper:auth": JSON.stringify({ workersSubdomain: "acme" }),
    "lakekeeper:r2": JSON.stringify({ accountId: ACCOUNT, ...r2 }),
    ...more,
  });
  const { declared, program } = await runMocked(async () => {
    const { R2Storage } = await import("../../components/r2Storage.ts");
    return new R2Storage("r2", { config, protection: { protect: false, dependsOn: [] } });
  });
  return { declared, credential: program.credential, profile: program.profile };
}

function typesOf({ declared }: Made): string[] {
  return declared.map(({ type, name }) => `${type} ${name}`);
}

test("the stack makes the token, with the permission found by its name, on its own account alone", async () => {
  const made = await storage({});
  expect(typesOf(made)).toEqual(["<R2Storage> r2", "AccountToken r2-token-1", "R2Access r2-access"]);
  const { inputs } = made.declared[1]!;
  expect((await settle(inputs["policies"])).value).toEqual([
    {
      effect: "allow",
      permissionGroups: [{ id: "id-of-Workers R2 Storage Write" }],
      resources: `{"com.cloudflare.api.account.${ACCOUNT}":"*"}`,
    },
  ]);
});

test("its S3 keys are derived from it, and kept secret", async () => {
  const { credential } = await storage({});
  expect(await settle(credential)).toEqual({
    secret: true,
    value: {
      type: "cloudflare-r2",
      accountId: ACCOUNT,
      accessKeyId: "r2-token-1-id",
      secretAccessKey: createHash("sha256").update("token-value").digest("hex"),
      token: "token-value",
    },
  });
});

test("another generation is another token, not a changed one", async () => {
  const made = await storage({}, { "lakekeeper:r2TokenGeneration": "2" });
  expect(typesOf(made)).toContain("AccountToken r2-token-2");
});

test("with a greatest age, another span of days has another token, and the same one the same", async () => {
  const clock = jest.spyOn(Date, "now");
  const tokenOn = async (day: string): Promise<string | undefined> => {
    clock.mockReturnValue(Date.parse(`${day}T12:00:00Z`));
    const made = await storage({ tokenMaxAgeDays: 30 }, { "lakekeeper:r2TokenGeneration": "2" });
    return made.declared.find(({ type }) => type === "AccountToken")?.name;
  };
  expect(await tokenOn("2026-11-03")).toBe("r2-token-2-2026-11-03");
  expect(await tokenOn("2026-12-02")).toBe("r2-token-2-2026-11-03");
  expect(await tokenOn("2026-12-03")).toBe("r2-token-2-2026-12-03");
  clock.mockRestore();
});

test("a token of somebody else's is taken as it is", async () => {
  const keys = { accessKeyId: "id", secretAccessKey: "secret", token: "value" };
  const made = await storage({ credentials: "provided" }, { "lakekeeper:r2Credentials": JSON.stringify(keys) });
  expect(typesOf(made)).toEqual(["<R2Storage> r2", "R2Access r2-access"]);
  expect(await settle(made.credential)).toEqual({
    secret: true,
    value: { type: "cloudflare-r2", accountId: ACCOUNT, ...keys },
  });
});

test.each([
  ["create", undefined],
  ["import", `${ACCOUNT}/lakehouse/eu`],
])("a bucket to %s is protected and outlives the stack", async (bucket, imported) => {
  const { declared } = await storage({ bucket, jurisdiction: "eu", location: "weur" });
  const { options, inputs } = declared.find(({ type }) => type === "R2Bucket")!;
  expect(options).toMatchObject({ protect: true, retainOnDelete: true });
  expect(options.import).toBe(imported);
  expect(inputs).toMatchObject({ accountId: ACCOUNT, jurisdiction: "eu", location: "weur" });
});

test.each([
  ["default", `https://${ACCOUNT}.r2.cloudflarestorage.com`],
  ["eu", `https://${ACCOUNT}.eu.r2.cloudflarestorage.com`],
  ["fedramp", `https://${ACCOUNT}.fedramp.r2.cloudflarestorage.com`],
])("the endpoint of the jurisdiction %s is %s", async (jurisdiction, endpoint) => {
  const { profile } = await storage({ jurisdiction });
  expect((await settle(profile)).value).toMatchObject({ bucket: "lakehouse", region: "auto", endpoint });
});

test("its rules are told in Cloudflare's words, and stay with the bucket when the stack goes", async () => {
  const made = await storage({
    bucket: "create",
    abortUploadsAfterDays: 7,
    locks: [{ prefix: "main/default/", days: 2 }],
  });
  const rules = Object.fromEntries(
    await Promise.all(
      made.declared
        .filter(({ type }) => ["R2BucketLifecycle", "R2BucketLock"].includes(type))
        .map(async ({ type, inputs, options }) => {
          expect(options.retainOnDelete).toBe(true);
          expect((await settle(inputs["bucketName"])).value).toBe("lakehouse");
          return [type, (await settle(inputs["rules"])).value] as const;
        }),
    ),
  );
  expect(rules).toEqual({
    R2BucketLifecycle: [
      {
        id: "abort-uploads",
        enabled: true,
        conditions: { prefix: "" },
        abortMultipartUploadsTransition: { condition: { type: "Age", maxAge: 604_800 } },
      },
    ],
    R2BucketLock: [
      {
        id: "keep-main/default/",
        enabled: true,
        prefix: "main/default/",
        condition: { type: "Age", maxAgeSeconds: 172_800 },
      },
    ],
  });
});

test("a bucket without rules gets none", async () => {
  const made = await storage({ bucket: "import" });
  expect(typesOf(made).filter((one) => /Lifecycle|Lock/.test(one))).toEqual([]);
});
