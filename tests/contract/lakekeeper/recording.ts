import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { request } from "undici";
import {
  isObject,
  type Json,
  type JsonObject,
  parseJson,
  stringifyJson,
} from "../../../emulators/lakekeeper/http/json.ts";

/** Calls recorded with Lakekeeper 0.13.3. They lie beside the checkout, not in it. */
const folder = resolve(process.cwd(), "..", "shared", "contract");

export const recordingsPresent = existsSync(join(folder, "lakekeeper-0.13.3-http.json"));

export interface RecordedCall {
  readonly section?: string;
  readonly name?: string;
  readonly step?: string;
  readonly request: { method: string; path: string; headers: Record<string, string>; body: Json };
  readonly response: { status: number; headers: Record<string, string>; body: Json };
}

export function readRecording(name: "http" | "lifecycle" | "pyiceberg-writes"): RecordedCall[] {
  const recording = parseJson(readFileSync(join(folder, `lakekeeper-0.13.3-${name}.json`), "utf8"));
  return (isObject(recording) ? recording["calls"] : recording) as unknown as RecordedCall[];
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Strings of the recording and what takes their place in this run. */
export class Translation {
  private readonly known = new Map<string, string>();

  learn(recorded: string, actual: string): void {
    if (!this.known.has(recorded)) this.known.set(recorded, actual);
  }

  /** Learns which id, tag or token of this run plays the part of which of the recording. */
  learnFrom(recorded: Json | undefined, actual: Json | undefined): void {
    if (typeof recorded === "string" && typeof actual === "string") {
      const [theirs, ours] = [recorded.match(uuid) ?? [], actual.match(uuid) ?? []];
      if (theirs.length === ours.length) theirs.forEach((id, index) => this.learn(id, ours[index]!));
    } else if (Array.isArray(recorded) && Array.isArray(actual)) {
      recorded.forEach((item, index) => this.learnFrom(item, actual[index]));
    } else if (isObject(recorded) && isObject(actual)) {
      for (const key of Object.keys(recorded)) this.learnFrom(recorded[key], actual[key]);
      const [theirs, ours] = [recorded["next-page-token"], actual["next-page-token"]];
      if (typeof theirs === "string" && typeof ours === "string") this.learn(theirs, ours);
    }
  }

  apply(text: string): string {
    let result = text;
    for (const [recorded, actual] of this.known) result = result.replaceAll(recorded, actual);
    return result;
  }
}

/** What differs from run to run, replaced by its kind. */
function normaliseText(text: string): string {
  return text
    .replace(uuid, "<id>")
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, "<url>")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, "<time>")
    .replace(/^\d{13}$/, "<milliseconds>")
    .replace(/\b\d{17,20}\b/g, "<snapshot>")
    .replace(/^MSYx[\w-]+$/, "<page token>")
    .replace(/column \d+$/, "column <n>")
    .replace(/(\(403 Forbidden\): ).*$/, "$1<Cloudflare's answer>");
}

const secretKeys = new Set(["s3.access-key-id", "s3.secret-access-key", "s3.session-token"]);

/** A body with everything that cannot be the same in two runs replaced; keys sorted. */
export function normalise(value: Json | undefined, key = ""): Json {
  if (value === undefined) return null;
  if (typeof value === "string") return secretKeys.has(key) ? "<secret>" : normaliseText(value);
  if (typeof value === "number" && (/(-ms|^lastCheck)$/.test(key) || value > 1_600_000_000_000))
    return "<milliseconds>";
  if (Array.isArray(value)) {
    const items = value.map((item) => normalise(item, key));
    // The real server keeps these in hash maps: they come in any order.
    return ["snapshots", "schemas", "partition-specs", "sort-orders"].includes(key)
      ? items.toSorted((one, other) => (stringifyJson(one) < stringifyJson(other) ? -1 : 1))
      : items;
  }
  if (!isObject(value)) return value;
  const sorted = Object.keys(value).toSorted();
  return Object.fromEntries(sorted.map((name) => [name, normalise(value[name], name)]));
}

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Json;
}

/** Sends a request as it was recorded, after translation. */
export async function send(
  base: string,
  call: RecordedCall,
  translation: Translation,
  headers: Record<string, string>,
  translateBody: (body: JsonObject) => JsonObject = (body) => body,
): Promise<Reply> {
  const { method, path, body } = call.request;
  const text =
    typeof body === "string"
      ? body
      : isObject(body)
        ? translation.apply(stringifyJson(translateBody(body)))
        : undefined;
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, translation.apply(value)]));
  const answer = await request(base + translation.apply(path), {
    method: method as "GET",
    headers: sent,
    ...(text === undefined ? {} : { body: text }),
  });
  const content = await answer.body.text();
  const isJson = String(answer.headers["content-type"]).startsWith("application/json");
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: content === "" ? null : isJson ? parseJson(content) : content,
  };
}

/** In what an answer differs from the recorded one; empty when it does not. */
export function differences(call: RecordedCall, reply: Reply): string[] {
  const found: string[] = [];
  const { status, headers, body } = call.response;
  if (reply.status !== status) found.push(`status ${reply.status} instead of ${status}`);
  const type = reply.headers["content-type"];
  if (type !== headers["content-type"])
    found.push(`content type ${String(type)} instead of ${headers["content-type"]}`);
  if ("etag" in reply.headers !== "etag" in headers) found.push("etag present in only one of them");
  compare(normalise(body), normalise(reply.body), "", found);
  return found;
}

function compare(recorded: Json, actual: Json, path: string, found: string[]): void {
  if (isObject(recorded) && isObject(actual)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(actual)])) {
      if (!(key in actual)) found.push(`${path}.${key} missing`);
      else if (!(key in recorded)) found.push(`${path}.${key} should not be there`);
      else compare(recorded[key]!, actual[key]!, `${path}.${key}`, found);
    }
  } else if (Array.isArray(recorded) && Array.isArray(actual) && recorded.length === actual.length) {
    // The details of an error are free text for people; the last one is its id.
    if (path !== ".error.stack")
      recorded.forEach((item, index) => compare(item, actual[index]!, `${path}[${index}]`, found));
  } else if (stringifyJson(recorded) !== stringifyJson(actual)) {
    found.push(`${path}: ${stringifyJson(actual)} instead of ${stringifyJson(recorded)}`);
  }
}
