import type { ClientName, Operation, S3Operations } from "./client.ts";
import { many, MiB, type Role, type Send } from "./world.ts";

/** What each client has no way to do. */
export const lacks: Record<ClientName, readonly Operation[]> = {
  "AWS SDK v3": [],
  aws4fetch: [],
  PyArrow: ["create", "getUnless"],
  s3fs: ["getUnless"],
  DuckDB: ["range", "level", "delete", "copy", "create", "getUnless"],
};

export interface Row {
  what: string;
  keys: Role;
  needs: Operation[];
  /** `own` is a key of this row and client alone; `send` asks the emulator without the client. */
  run: (s3: S3Operations, own: string, send: Send) => Promise<unknown>;
}

export interface WorkingRow extends Row {
  gives: unknown;
}

export interface RefusedRow extends Row {
  /** `<name of the error>: <message>` of each client that offers it. */
  with: Partial<Record<ClientName, RegExp>>;
}

const putThenGet: Row["run"] = async (s3, own) => {
  await s3.put(`${own} é`, "new");
  return s3.get(`${own} é`);
};

const upload: Row["run"] = async (s3, own, send) => {
  await s3.upload(own, 11);
  const { headers } = await send("HEAD", own);
  return [Number(headers.get("content-length")), headers.get("etag")];
};

const copy: Row["run"] = async (s3, own, send) => {
  await s3.copy("shared/digits", own);
  return (await send("GET", own)).text();
};

const deleteObject: Row["run"] = async (s3, own, send) => {
  const before = await send("PUT", own, "x");
  await s3.delete(own);
  return [before.status, (await send("HEAD", own)).status];
};

const create: Row["run"] = async (s3, own, send) => {
  await s3.create(`${own}-created`, "new");
  return (await send("GET", `${own}-created`)).text();
};

const useItsPrefix: Row["run"] = async (s3, own) => {
  await s3.put(`table/${own}/new`, "x");
  return [await s3.get("table/data"), await s3.list(`table/${own}/`)];
};

export const works: readonly WorkingRow[] = [
  {
    what: "put, get",
    keys: "parent",
    needs: ["put", "get"],
    run: putThenGet,
    gives: "new",
  },
  {
    what: "head",
    keys: "parent",
    needs: ["size"],
    run: (s3) => s3.size("shared/digits"),
    gives: 10,
  },
  {
    what: "range",
    keys: "parent",
    needs: ["range"],
    run: (s3) => s3.range("shared/digits", 3, 5),
    gives: "345",
  },
  {
    what: "list a prefix",
    keys: "parent",
    needs: ["list"],
    run: (s3) => s3.list("shared/tree/"),
    gives: ["a", "b/1", "b/c/2"],
  },
  {
    what: "list one level",
    keys: "parent",
    needs: ["level"],
    run: (s3) => s3.level("shared/tree/"),
    gives: ["a", "b/"],
  },
  {
    what: "list 1005 keys",
    keys: "parent",
    needs: ["list"],
    run: (s3) => s3.list("shared/many/"),
    gives: many,
  },
  {
    what: "multipart upload",
    keys: "parent",
    needs: ["upload"],
    run: upload,
    // Only what came in parts has a number of them in its ETag.
    gives: [11 * MiB, expect.stringMatching(/^"[0-9a-f]{32}-\d+"$/)],
  },
  {
    what: "copy",
    keys: "parent",
    needs: ["copy"],
    run: copy,
    gives: "0123456789",
  },
  {
    what: "delete",
    keys: "parent",
    needs: ["delete"],
    run: deleteObject,
    gives: [200, 404],
  },
  {
    what: "create",
    keys: "parent",
    needs: ["create"],
    run: create,
    gives: "new",
  },
  {
    what: "get, put, list in its prefix",
    keys: "scoped",
    needs: ["get", "put", "list"],
    run: useItsPrefix,
    gives: ["inside", ["new"]],
  },
];

/** A refusal of `HeadObject` has no body, so PyArrow and s3fs often know the status alone. */
const denied: Record<ClientName, RegExp> = {
  "AWS SDK v3": /^AccessDenied: Access Denied$/,
  aws4fetch: /^403 AccessDenied: $/,
  PyArrow: /^OSError: .*AWS Error ACCESS_DENIED/,
  s3fs: /^PermissionError: (Forbidden|Access Denied)$/,
  DuckDB: /^HTTPException: .*403.*AccessDenied: Access Denied/s,
};
const anonymous: Record<ClientName, RegExp> = {
  ...denied,
  "AWS SDK v3": /^Unauthorized: Unauthorized$/,
  aws4fetch: /^401 Unauthorized: $/,
  s3fs: /^OSError: .*\(401\).*Unauthorized$/,
  DuckDB: /^HTTPException: .*401 Unauthorized.*Unauthorized: Unauthorized/s,
};

export const refused: readonly RefusedRow[] = [
  {
    what: "get what is not there",
    keys: "parent",
    needs: ["get"],
    run: (s3) => s3.get("absent"),
    with: {
      "AWS SDK v3": /^NoSuchKey: /,
      aws4fetch: /^404 NoSuchKey: $/,
      PyArrow: /^FileNotFoundError: .*'lakehouse\/absent'/,
      s3fs: /^FileNotFoundError: lakehouse\/absent$/,
      DuckDB: /^HTTPException: .*404 Not Found/,
    },
  },
  {
    what: "get from no bucket",
    keys: "parent",
    needs: ["get"],
    run: (s3) => s3.get("absent", "nowhere"),
    with: {
      "AWS SDK v3": /^NoSuchBucket: /,
      aws4fetch: /^404 NoSuchBucket: $/,
      PyArrow: /^FileNotFoundError: .*'nowhere\/absent'/,
      s3fs: /^FileNotFoundError: The specified bucket does not exist\.$/,
      DuckDB: /^HTTPException: .*404 Not Found/,
    },
  },
  {
    what: "create what is there",
    keys: "parent",
    needs: ["create"],
    run: (s3) => s3.create("shared/digits", "other"),
    with: {
      "AWS SDK v3": /^PreconditionFailed: /,
      aws4fetch: /^412 PreconditionFailed: $/,
      s3fs: /^OSError: .*At least one of the pre-conditions you specified did not hold/,
    },
  },
  {
    what: "get what is unchanged",
    keys: "parent",
    needs: ["getUnless"],
    run: async (s3, _own, send) =>
      s3.getUnless("shared/digits", (await send("HEAD", "shared/digits")).headers.get("etag")!),
    with: { "AWS SDK v3": /^Unknown: /, aws4fetch: /^304: $/ },
  },
  {
    what: "get outside its prefix",
    keys: "scoped",
    needs: ["get"],
    run: (s3) => s3.get("elsewhere/data"),
    with: denied,
  },
  {
    what: "put outside its prefix",
    keys: "scoped",
    needs: ["put"],
    run: (s3) => s3.put("elsewhere/data", "x"),
    with: denied,
  },
  {
    what: "list outside its prefix",
    keys: "scoped",
    needs: ["list"],
    run: (s3) => s3.list("elsewhere/"),
    with: denied,
  },
  {
    what: "put when it may only read",
    keys: "reader",
    needs: ["put"],
    run: (s3) => s3.put("table/data", "x"),
    with: denied,
  },
  {
    what: "expired",
    keys: "expired",
    needs: ["get"],
    run: (s3) => s3.get("table/data"),
    with: {
      "AWS SDK v3": /^ExpiredToken: /,
      aws4fetch: /^400 ExpiredToken: $/,
      PyArrow: /^OSError: .*HTTP status 400/,
      s3fs: /^OSError: .*Bad Request$/,
      DuckDB: /^HTTPException: .*400 Bad Request.*ExpiredToken: /s,
    },
  },
  { what: "parent revoked", keys: "orphaned", needs: ["get"], run: (s3) => s3.get("table/data"), with: anonymous },
  {
    what: "wrong secret",
    keys: "wrong",
    needs: ["get"],
    run: (s3) => s3.get("table/data"),
    with: {
      "AWS SDK v3": /^SignatureDoesNotMatch: /,
      aws4fetch: /^403 SignatureDoesNotMatch: $/,
      PyArrow: denied.PyArrow,
      s3fs: denied.s3fs,
      DuckDB: /^HTTPException: .*403 Forbidden.*SignatureDoesNotMatch: /s,
    },
  },
  { what: "unknown key", keys: "stranger", needs: ["get"], run: (s3) => s3.get("table/data"), with: anonymous },
];
