import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import provider, { type LakekeeperRuntimeInputs } from "../../../providers/local/lakekeeperRuntime.provider.ts";
import { makeScratch, type Scratch } from "../../support/scratch.ts";

let scratch: Scratch;
const { PATH, XDG_CACHE_HOME } = process.env;

beforeEach(async () => {
  scratch = await makeScratch();
  process.env["XDG_CACHE_HOME"] = join(scratch.state, "cache");
});

afterEach(async () => {
  process.env["PATH"] = PATH;
  if (XDG_CACHE_HOME === undefined) delete process.env["XDG_CACHE_HOME"];
  else process.env["XDG_CACHE_HOME"] = XDG_CACHE_HOME;
  await scratch.remove();
});

function inputs(changes: Partial<LakekeeperRuntimeInputs> = {}): LakekeeperRuntimeInputs {
  return {
    binary: "",
    version: "0.13.3",
    download: false,
    api: "https://api.github.com",
    lockFile: join(scratch.state, "lakekeeper.lock.json"),
    ...changes,
  };
}

const printing = (version: string) => `[ "$1" = version ] && echo ${version}`;

async function installOnPath(body: string): Promise<string> {
  const binary = await scratch.script("lakekeeper", body);
  process.env["PATH"] = [dirname(binary), PATH].join(delimiter);
  return binary;
}

/** Serves GitHub's answer for a release whose archive holds a script called lakekeeper. */
async function serveRelease(digest?: string) {
  const folder = join(scratch.state, "release");
  await mkdir(folder, { recursive: true });
  const script = await scratch.script("released", printing("0.13.3"));
  await promisify(execFile)("cp", [script, join(folder, "lakekeeper")]);
  await promisify(execFile)("tar", ["-czf", "archive.tar.gz", "lakekeeper"], { cwd: folder });
  const archive = await readFile(join(folder, "archive.tar.gz"));
  const actual = `sha256:${createHash("sha256").update(archive).digest("hex")}`;
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(request.url ?? "");
    if (request.url === "/repos/lakekeeper/lakekeeper/releases/tags/v0.13.3") {
      const names = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin"];
      const assets = names.map((name) => ({
        name: `lakekeeper-${name}.tar.gz`,
        browser_download_url: `${api}/download`,
        digest: digest ?? actual,
      }));
      response.end(JSON.stringify({ assets }));
    } else if (request.url === "/download") response.writeHead(302, { location: "/elsewhere" }).end();
    else response.end(archive);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { api, calls, actual, close: () => new Promise((closed) => server.close(closed)) };
}

test("a configured binary is taken, whatever else there is", async () => {
  await installOnPath(printing("0.13.3"));
  const binary = await scratch.script("mine", printing("0.14.1"));

  const news = inputs({ binary });
  expect((await provider.check({}, news)).failures).toEqual([]);
  const { outs } = await provider.create(news);
  expect(outs).toMatchObject({ kind: "binary", command: [binary], runtimeVersion: "0.14.1" });
});

test.each([
  ["does not exist", undefined, "is no program that can be run"],
  ["is another program", "echo usage >&2; exit 2", "is not Lakekeeper"],
  ["prints something else", "echo GNU coreutils 9.4", "GNU coreutils 9.4"],
  ["is too old", printing("0.12.4"), "is too old: it is 0.12.4"],
])(
  "a configured binary that %s is refused in the preview, and nothing takes its place",
  async (_what, body, reason) => {
    await installOnPath(printing("0.13.3"));
    const binary = body === undefined ? join(scratch.state, "missing") : await scratch.script("mine", body);

    const { failures } = await provider.check({}, inputs({ binary }));
    expect(failures).toEqual([{ property: "", reason: expect.stringContaining(reason) as string }]);
    expect(failures[0]?.reason).toContain(binary);
    await expect(provider.create(inputs({ binary }))).rejects.toThrow(reason);
  },
);

test("lakekeeper on PATH comes before the release", async () => {
  const binary = await installOnPath(printing("0.13.3"));
  const release = await serveRelease();

  const { outs } = await provider.create(inputs({ download: true, api: release.api }));
  await release.close();
  expect(outs.command).toEqual([binary]);
  expect(release.calls).toEqual([]);
});

test("one on PATH that is too old is passed over", async () => {
  await installOnPath(printing("0.11.0"));

  expect((await provider.create(inputs())).outs.kind).toBe("stand-in");
});

test("the official release is downloaded once, checked and recorded", async () => {
  const release = await serveRelease();
  const news = inputs({ download: true, api: release.api });
  const { outs } = await provider.create(news);
  const calls = release.calls.length;
  const { outs: again } = await provider.create(news);
  await release.close();

  expect(outs).toMatchObject({ kind: "binary", runtimeVersion: "0.13.3" });
  expect(again.command).toEqual(outs.command);
  expect(release.calls.length).toBe(calls);
  const lock = JSON.parse(await readFile(news.lockFile, "utf8")) as Record<string, Record<string, string>>;
  expect(Object.values(lock["0.13.3"] ?? {})).toEqual([release.actual]);
});

test("an archive that is not what was announced is refused", async () => {
  const release = await serveRelease(`sha256:${"0".repeat(64)}`);

  await expect(provider.create(inputs({ download: true, api: release.api }))).rejects.toThrow(release.actual);
  await release.close();
});

test("an archive that is not what was recorded is refused before it is downloaded", async () => {
  const release = await serveRelease();
  const news = inputs({ download: true, api: release.api });
  await provider.create(news);
  await release.close();
  await rm(join(scratch.state, "cache"), { recursive: true });
  const other = await serveRelease(`sha256:${"0".repeat(64)}`);

  await expect(provider.create({ ...news, api: other.api })).rejects.toThrow(news.lockFile);
  await other.close();
  expect(other.calls).not.toContain("/download");
});

test("without a network the stand-in soon takes over, plainly", async () => {
  const said = jest.spyOn(console, "log").mockImplementation(() => {});
  const began = Date.now();
  // Reserved for documentation: nothing answers there.
  const { outs } = await provider.create(inputs({ download: true, api: "https://192.0.2.1" }));
  const took = Date.now() - began;
  const lines = said.mock.calls.flat().join("\n");
  said.mockRestore();

  expect(outs).toMatchObject({ kind: "stand-in", runtimeVersion: "0.13.3" });
  expect(lines).toContain("STAND-IN");
  expect(took).toBeLessThan(20_000);
});

test("the answer is kept until an input changes or the binary does", async () => {
  const binary = await installOnPath(printing("0.13.3"));
  const news = inputs();
  const { id, outs } = await provider.create(news);

  expect(await provider.diff(id, outs, news)).toEqual({ changes: false });
  expect(await provider.diff(id, outs, { ...news, version: "0.14.0" })).toEqual({ changes: true });
  await scratch.script("lakekeeper", printing("0.13.4"));
  expect(await provider.diff(id, outs, news)).toEqual({ changes: true });
  await scratch.script("lakekeeper", printing("0.13.3"));
  await chmod(binary, 0o644);
  expect(await provider.diff(id, outs, news)).toEqual({ changes: true });
});
