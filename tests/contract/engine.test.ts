import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findEngine } from "../../tools/engine/engine.ts";
import { programs, version } from "../../tools/engine/release.ts";

const archive = `pulumi-v${version}-${process.platform}-${process.arch}.tar.gz`;
const checksums = `pulumi-${version}-checksums.txt`;
/** A port that nothing listens on: connections are refused at once. */
const unreachable = "http://127.0.0.1:9";

let folder: string;
let cache: string;
let said: string;
let servers: Server[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "engine-test-"));
  cache = join(folder, "cache");
  said = "";
  servers = [];
  jest.spyOn(process.stderr, "write").mockImplementation((text) => ((said += String(text)), true));
});

afterEach(() => {
  jest.restoreAllMocks();
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A folder in which `name` is a shell script, on the way to a whole engine. */
function script(where: string, name: string, body: string): string {
  mkdirSync(where, { recursive: true });
  writeFileSync(join(where, name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(where, name), 0o755);
  return where;
}

function engine(where: string, itsVersion: string): string {
  for (const program of programs) script(where, program, `echo v${itsVersion}`);
  return where;
}

/** Pulumi's download site with these files. */
async function site(files: Record<string, string | Buffer>): Promise<{ url: string; requested: string[] }> {
  const requested: string[] = [];
  const server = createServer((request, response) => {
    requested.push(request.url ?? "");
    const body = files[(request.url ?? "").replace("/releases/sdk/", "")];
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requested };
}

/** The official archive as it is laid out: everything in one folder named `pulumi`. */
function officialArchive(): Buffer {
  engine(join(folder, "pack", "pulumi"), version);
  execFileSync("tar", ["-czf", join(folder, archive), "-C", join(folder, "pack"), "pulumi"]);
  return readFileSync(join(folder, archive));
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A Go whose builds are scripts; it notes the settings and arguments it was called with. */
function go(itsVersion: string): { path: string; calls: () => string } {
  const module = script(join(folder, "module", "nodejs", "dist"), "pulumi-resource-pulumi-nodejs", "exit 0");
  const path = script(
    join(folder, "go"),
    "go",
    `if [ "$1" = env ]; then echo go${itsVersion}; exit; fi
     echo "$GOFLAGS $GOTOOLCHAIN $CGO_ENABLED $(basename "$PWD") $*" >> ${join(folder, "calls")}
     if [ "$1" = list ]; then echo ${join(module, "..", "..")}; exit; fi
     while [ "$1" != -o ]; do shift; done
     echo 'echo v${version}' > "$2/$(basename "$3")" && chmod 755 "$2/$(basename "$3")"`,
  );
  return { path: `${path}:/usr/bin:/bin`, calls: () => readFileSync(join(folder, "calls"), "utf8") };
}

describe("an engine on PATH", () => {
  test("is used when it is new enough, before the cache", async () => {
    engine(join(cache, `engine-${version}`, "bin"), version);
    const path = engine(join(folder, "installed"), "3.999.0");
    expect(await findEngine({ path: `${join(folder, "nothing")}:${path}`, cache, site: unreachable })).toBe(path);
    expect(said).toBe("");
  });

  test("is found behind the link that a package manager makes", async () => {
    const installed = engine(join(folder, "opt", "pulumi", "bin"), version);
    mkdirSync(join(folder, "bin"));
    symlinkSync(join(installed, "pulumi"), join(folder, "bin", "pulumi"));
    expect(await findEngine({ path: join(folder, "bin"), cache, site: unreachable })).toBe(installed);
  });

  test.each([
    ["older", "3.200.0"],
    ["of another major version", "4.0.0"],
  ])("is passed over, with the reason, when it is %s", async (_, itsVersion) => {
    const cached = engine(join(cache, `engine-${version}`, "bin"), version);
    const path = engine(join(folder, "installed"), itsVersion);
    expect(await findEngine({ path, cache, site: unreachable })).toBe(cached);
    expect(said).toContain(`not using ${path}/pulumi: it is ${itsVersion}, this project needs ${version}`);
  });

  test("is passed over when it has no language host beside it", async () => {
    const cached = engine(join(cache, `engine-${version}`, "bin"), version);
    const path = script(join(folder, "installed"), "pulumi", `echo v${version}`);
    expect(await findEngine({ path, cache, site: unreachable })).toBe(cached);
    expect(said).toContain("pulumi-language-nodejs and pulumi-resource-pulumi-nodejs are not beside it");
  });
});

describe("the official download", () => {
  test("is compared with its published checksum, installed in the cache, and not fetched again", async () => {
    const bytes = officialArchive();
    const { url, requested } = await site({ [archive]: bytes, [checksums]: `${sha256(bytes)}  ${archive}\n` });
    const bin = await findEngine({ path: "/usr/bin:/bin", cache, site: url });
    expect(bin).toBe(join(cache, `engine-${version}`, "bin"));
    expect(readdirSync(bin).sort()).toEqual([...programs].sort());
    expect(said).toContain(`downloading Pulumi ${version}`);

    await findEngine({ path: "/usr/bin:/bin", cache, site: url });
    expect(requested).toEqual([`/releases/sdk/${checksums}`, `/releases/sdk/${archive}`]);
  });

  test("is refused when the checksum differs, and nothing is left in the cache", async () => {
    const bytes = officialArchive();
    const { url } = await site({ [archive]: bytes, [checksums]: `${"0".repeat(64)}  ${archive}\n` });
    await expect(findEngine({ path: go("1.26.6").path, cache, site: url })).rejects.toThrow(
      `${archive} has the SHA-256 ${sha256(bytes)}, but ${"0".repeat(64)} is published`,
    );
    expect(existsSync(join(cache, `engine-${version}`))).toBe(false);
  });

  test("is fetched once by two runs side by side", async () => {
    const bytes = officialArchive();
    const { url, requested } = await site({ [archive]: bytes, [checksums]: `${sha256(bytes)}  ${archive}\n` });
    jest.spyOn(console, "log").mockImplementation(() => undefined);
    const sources = { path: "/usr/bin:/bin", cache, site: url };
    const [one, other] = await Promise.all([findEngine(sources), findEngine(sources)]);
    expect(one).toBe(other);
    expect(requested).toHaveLength(2);
  });
});

describe("the build from Go modules", () => {
  test("comes last, with the pinned modules and nothing of the person's own Go settings", async () => {
    const { path, calls } = go("1.26.6");
    const { url } = await site({});
    const bin = await findEngine({ path, cache, site: url });
    expect(readdirSync(bin).sort()).toEqual([...programs].sort());
    expect(said).toContain(`${url} answered 404 for the checksums of Pulumi ${version}`);
    const lines = calls().trim().split("\n");
    expect(lines.map((line) => line.split(" ").slice(0, 6).join(" "))).toEqual([
      "-mod=readonly -buildvcs=false local 0 nodejs-host build",
      "-mod=readonly -buildvcs=false local 0 cli build",
      "-mod=readonly -buildvcs=false local 0 cli list",
    ]);
    expect(calls()).toContain(`version.Version=v${version}`);
  });

  test("is soon reached when the download site cannot be", async () => {
    const started = Date.now();
    await findEngine({ path: go("1.27.0").path, cache, site: unreachable });
    expect(Date.now() - started).toBeLessThan(30_000);
    expect(said).toContain(`cannot download Pulumi from ${unreachable}`);
  });

  test.each([
    ["there is no Go", () => "/nowhere", /no Go to build it\. Install Pulumi 3.*or Go 1\.26\.6 or newer/],
    ["Go is too old", () => go("1.22.3").path, /`go` on PATH is go1\.22\.3\. Install Pulumi 3/],
  ])("says what to install when %s", async (_, path, message) => {
    await expect(findEngine({ path: path(), cache, site: unreachable })).rejects.toThrow(message);
  });

  test("shows what Go printed when it fails, and the next run starts afresh", async () => {
    const broken = script(
      join(folder, "broken"),
      "go",
      `[ "$1" = env ] && echo go1.26.6 || { echo no space left >&2; exit 1; }`,
    );
    const attempt = findEngine({ path: `${broken}:/usr/bin:/bin`, cache, site: unreachable });
    await expect(attempt).rejects.toThrow(/failed \(exit code 1\):\nno space left/);
    expect(await findEngine({ path: go("1.26.6").path, cache, site: unreachable })).toBe(
      join(cache, `engine-${version}`, "bin"),
    );
  });
});

test("the pinned modules are of the release that is asked for", () => {
  const required = readFileSync("tools/engine/cli/go.mod", "utf8");
  expect(required).toContain(`github.com/pulumi/pulumi/pkg/v3 v${version}`);
  expect(required).toContain(`github.com/pulumi/pulumi/sdk/v3 v${version}`);
});
