import {
  CreateBucketCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { refusal, s3Client, startTestR2, type TestR2 } from "./support.ts";

let r2: TestR2;
let s3: S3Client;

beforeAll(async () => {
  r2 = await startTestR2();
  s3 = s3Client(r2);
});
afterAll(() => r2.stop());

describe("listings", () => {
  const keys = ["a", "b/1", "b/2", "b/c/3", "b-1", "d é", "\uffff", "\u{1f600}"];

  beforeAll(async () => {
    await s3.send(new CreateBucketCommand({ Bucket: "listed" }));
    for (const Key of keys) await s3.send(new PutObjectCommand({ Bucket: "listed", Key, Body: "x" }));
  });

  async function pages(request: object): Promise<string[][]> {
    const pages: string[][] = [];
    let ContinuationToken: string | undefined;
    do {
      const page = await s3.send(new ListObjectsV2Command({ Bucket: "listed", ...request, ContinuationToken }));
      const entries = [...(page.Contents ?? []), ...(page.CommonPrefixes ?? []).map(({ Prefix }) => ({ Key: Prefix }))];
      expect(page.KeyCount).toBe(entries.length);
      pages.push(entries.map(({ Key }) => Key ?? ""));
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    return pages;
  }

  test.each([
    ["everything, by bytes", {}, [["a", "b-1", "b/1", "b/2", "b/c/3", "d é", "\uffff", "\u{1f600}"]]],
    ["a prefix", { Prefix: "b/" }, [["b/1", "b/2", "b/c/3"]]],
    ["a prefix that is nowhere", { Prefix: "z" }, [[]]],
    ["one level", { Delimiter: "/" }, [["a", "b-1", "d é", "\uffff", "\u{1f600}", "b/"]]],
    ["a level below", { Prefix: "b/", Delimiter: "/" }, [["b/1", "b/2", "b/c/"]]],
    [
      "pages of two",
      { MaxKeys: 2, Prefix: "b" },
      [
        ["b-1", "b/1"],
        ["b/2", "b/c/3"],
      ],
    ],
    ["pages with prefixes", { MaxKeys: 1, Delimiter: "/", Prefix: "b" }, [["b-1"], ["b/"]]],
    ["what follows a key", { StartAfter: "b/2" }, [["b/c/3", "d é", "\uffff", "\u{1f600}"]]],
    ["nothing", { MaxKeys: 0 }, [[]]],
    ["encoded keys", { EncodingType: "url", Prefix: "d" }, [["d%20%C3%A9"]]],
  ])("give %s", async (_what, request, expected) => {
    expect(await pages(request)).toEqual(expected);
  });

  test("of the older kind page by marker", async () => {
    const first = await s3.send(new ListObjectsCommand({ Bucket: "listed", Delimiter: "/", MaxKeys: 3 }));
    expect([first.Contents?.map(({ Key }) => Key), first.CommonPrefixes, first.NextMarker]).toEqual([
      ["a", "b-1"],
      [{ Prefix: "b/" }],
      "b/",
    ]);
    const rest = await s3.send(new ListObjectsCommand({ Bucket: "listed", Delimiter: "/", Marker: "b/" }));
    expect([rest.Contents?.map(({ Key }) => Key), rest.IsTruncated]).toEqual([["d é", "\uffff", "\u{1f600}"], false]);
  });

  test("with a token that is none are refused", async () => {
    const list = new ListObjectsV2Command({ Bucket: "listed", ContinuationToken: "!" });
    expect(await refusal(s3.send(list))).toBe("InvalidArgument 400");
  });
});
