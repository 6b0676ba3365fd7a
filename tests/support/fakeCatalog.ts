import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { S3Access } from "../../clients/s3.ts";
import type { VerificationInputs } from "../../providers/verification/inputs.ts";

export interface Answer {
  readonly status: number;
  readonly body?: string | object;
  readonly type?: string;
}

export const WAREHOUSE_ID = "388c7492-ed08-11f1-82a1-130eeba78f24";
export const READER_TOKEN = "reader-token-of-the-test";
export const LOCATION = "s3://lakehouse/warehouse/main.default/t000";
export const METADATA_KEY = "warehouse/main.default/t000/metadata/00001-a.metadata.json";
export const DATA_KEY = "warehouse/main.default/t000/data/00000-0-a.parquet";
const VENDED = { key: "VENDEDKEY", secret: "vended-secret-key", token: "vended-session-token" };
export const OWN = { key: "OWNKEY", secret: "own-secret-key" };

/** A file as PyIceberg writes it. The snapshot id is beyond 2^53: as a double it would be ...781000. */
const FILE = `{"location":"${LOCATION}","table-uuid":"5e63ab6e-7f43-4a4d-a2b6-26c3a49c2d67","last-updated-ms":1796075847648,
"last-column-id":2,"schemas":[{"type":"struct","fields":[{"id":1,"name":"id","type":"long","required":false},
{"id":2,"name":"price","type":"decimal(9, 2)","required":false}],"schema-id":0,"identifier-field-ids":[]}],
"current-schema-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"last-partition-id":999,
"properties":{},"current-snapshot-id":5832468467513096781,"snapshots":[{"snapshot-id":5832468467513096781,
"sequence-number":1,"timestamp-ms":1796075847648,"manifest-list":"${LOCATION}/metadata/snap-1.avro",
"summary":{"operation":"append","total-data-files":"1"},"schema-id":0}],"snapshot-log":[{"snapshot-id":5832468467513096781,
"timestamp-ms":1796075847648}],"metadata-log":[],"sort-orders":[{"order-id":0,"fields":[]}],"default-sort-order-id":0,
"refs":{"main":{"snapshot-id":5832468467513096781,"type":"branch"}},"statistics":[],"partition-statistics":[],
"format-version":2,"last-sequence-number":1}`;

/** The same as Lakekeeper tells it: parsed and written anew, without what is empty. */
const TOLD = FILE.replace(`"decimal(9, 2)"`, `"decimal(9,2)"`)
  .replace(`,"identifier-field-ids":[]`, "")
  .replace(`"properties":{},`, "")
  .replace(`"metadata-log":[],`, "")
  .replace(`"statistics":[],"partition-statistics":[],`, "");

/**
 * A catalog and its bucket on one port, which answer in the words of Lakekeeper 0.13.3 and S3, for tests that make
 * them misbehave in one way at a time. It checks who asks by key id alone, no signature.
 */
export class FakeCatalog {
  uri = "";
  /** Answers that take the place of the usual ones, by "METHOD /path". */
  readonly answers: Record<string, Answer> = {};
  /** Every request, as "METHOD /path?query". */
  readonly requests: string[] = [];
  readonly objects = new Map<string, string | Buffer>([
    [METADATA_KEY, FILE],
    [DATA_KEY, "PAR1 and the rest"],
  ]);
  told = TOLD;
  tokenNeeded = true;
  sessionSeconds = 3600;
  sessionLeftSeconds = 3500;
  /** What the vended keys may do; `key` is an object's or a listing's prefix. */
  allows = (_method: string, key: string): boolean => key.startsWith("warehouse/main.default/t000/");
  /** Changes an answer to a load before it is sent; `vended` tells what was asked for. */
  load: (table: LoadAnswer, vended: boolean) => LoadAnswer = (table) => table;

  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { status, body = "", type } = this.#answer(request, Buffer.concat(chunks));
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const usual = text.startsWith("<") ? "application/xml" : "application/json";
      response.writeHead(status, { "content-type": type ?? usual }).end(text);
    });
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.uri = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  /** To verify all there is to verify of this catalog. */
  inputs(changed: Partial<VerificationInputs> = {}): VerificationInputs {
    return {
      connection: { uri: this.uri, identity: { kind: "token", token: READER_TOKEN } },
      readerToken: READER_TOKEN,
      warehouse: "lakehouse",
      warehouseId: WAREHOUSE_ID,
      location: "s3://lakehouse",
      namespaces: ["main", "main.default"],
      smokeTable: "main.default.t000",
      tableRequired: true,
      vending: "required",
      writeProbe: true,
      ...changed,
    };
  }

  /** Keys of the bucket's owner. */
  storage(): S3Access {
    return { endpoint: this.uri, region: "auto", accessKeyId: OWN.key, secretAccessKey: OWN.secret };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, body: Buffer): Answer {
    const url = new URL(request.url!, this.uri);
    const call = `${request.method} ${url.pathname}`;
    this.requests.push(`${call}${url.search}`);
    const instead = this.answers[call];
    if (instead !== undefined) return instead;
    if (url.pathname === "/health") return { status: 200, body: { health: "ok" } };
    if (url.pathname.startsWith("/lakehouse")) return this.#s3(request, url, body);

    const { authorization } = request.headers;
    if (authorization === undefined && this.tokenNeeded) return failure(401, "MissingAuthorizationHeader");
    if (authorization !== undefined && authorization !== `Bearer ${READER_TOKEN}`) {
      return failure(401, "AuthenticationFailed");
    }
    if (call === `GET /management/v1/warehouse/${WAREHOUSE_ID}`) return { status: 200, body: this.#warehouse() };
    if (call === "GET /catalog/v1/config") {
      if (url.searchParams.get("warehouse") !== "lakehouse") return failure(404, "NoSuchWarehouseException");
      const overrides = { uri: `${this.uri}/catalog`, "idempotency-key-lifetime": "PT30M" };
      return { status: 200, body: { overrides, defaults: { prefix: WAREHOUSE_ID, "rest-page-size": "100" } } };
    }
    if (call === `GET /catalog/v1/${WAREHOUSE_ID}/namespaces`) {
      const namespaces = url.searchParams.has("parent")
        ? [
            ["main", "default"],
            ["main", "test"],
          ]
        : [["main"]];
      return { status: 200, body: { namespaces } };
    }
    if (call === `GET /catalog/v1/${WAREHOUSE_ID}/namespaces/main%1Fdefault/tables/t000`) {
      return this.#table(request.headers["x-iceberg-access-delegation"] !== "client-managed");
    }
    return failure(404, "NoSuchTableException");
  }

  #warehouse(): object {
    return {
      "warehouse-id": WAREHOUSE_ID,
      name: "lakehouse",
      status: "active",
      protected: false,
      "storage-profile": { type: "s3", bucket: "lakehouse", "sts-token-validity-seconds": this.sessionSeconds },
      "delete-profile": { type: "hard" },
    };
  }

  #table(vended: boolean): Answer {
    const place = { "s3.endpoint": `${this.uri}/`, "s3.region": "auto", "s3.path-style-access": "true" };
    const keys = {
      "s3.access-key-id": VENDED.key,
      "s3.secret-access-key": VENDED.secret,
      "s3.session-token": VENDED.token,
    };
    const expires = String(Date.now() + this.sessionLeftSeconds * 1000);
    const config = vended ? { ...place, ...keys } : place;
    const session = vended ? { "s3.session-token-expires-at-ms": expires, "expiration-time": expires } : {};
    const table = this.load({ config, credentials: [{ prefix: LOCATION, config: { ...config, ...session } }] }, vended);
    // Put together as text: an object would round the snapshot ids.
    return {
      status: 200,
      body:
        `{"metadata-location":"s3://lakehouse/${METADATA_KEY}","metadata":${this.told},` +
        `"config":${JSON.stringify(table.config)},"storage-credentials":${JSON.stringify(table.credentials)}}`,
    };
  }

  #s3(request: IncomingMessage, url: URL, body: Buffer): Answer {
    const method = request.method!;
    const key = decodeURIComponent(url.pathname.slice("/lakehouse/".length));
    const prefix = url.searchParams.get("prefix") ?? "";
    const keyId = /Credential=([^/]+)\//.exec(request.headers.authorization ?? "")?.[1];
    const isVended = keyId === VENDED.key && request.headers["x-amz-security-token"] === VENDED.token;
    if (!isVended && keyId !== OWN.key) return s3Failure(403, "InvalidAccessKeyId");
    if (isVended && !this.allows(method, key || prefix)) return s3Failure(403, "AccessDenied");
    if (key === "") {
      const found = [...this.objects].filter(([name]) => name.startsWith(prefix));
      const contents = found.map(
        ([name, { length }]) => `<Contents><Key>${name}</Key><Size>${length}</Size></Contents>`,
      );
      return { status: 200, body: `<ListBucketResult>${contents.join("")}</ListBucketResult>` };
    }
    if (method === "PUT") this.objects.set(key, body.toString());
    if (method === "DELETE") this.objects.delete(key);
    if (method !== "GET") return { status: 200 };
    const object = this.objects.get(key);
    return object === undefined ? s3Failure(404, "NoSuchKey") : { status: 200, body: object.toString() };
  }
}

export interface LoadAnswer {
  config: Record<string, string>;
  credentials: { prefix: string; config: Record<string, string> }[];
}

function failure(code: number, type: string): Answer {
  return { status: code, body: { error: { message: "refused", type, code, stack: [] } } };
}

function s3Failure(status: number, code: string): Answer {
  return { status, body: `<Error><Code>${code}</Code><Message>refused</Message></Error>` };
}
