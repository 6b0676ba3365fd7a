import { execFile } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeCheckout, resourceCounts, type Checkout } from "../support/checkout.ts";
import { doctorInputs, pointersInCatalog } from "../support/liveStack.ts";

// What a machine can have in the way of `make up`: the error names it, and the run after the remedy works.

const command = promisify(execFile);

let checkout: Checkout;

beforeAll(async () => {
  checkout = await makeCheckout();
});

afterAll(async () => {
  await checkout.remove();
});

async function upFails(): Promise<string> {
  const { code, output } = await checkout.make("up");
  expect(code).not.toBe(0);
  return output;
}

async function expectWholeStack(at: Checkout): Promise<void> {
  expect(Object.keys(await pointersInCatalog(await doctorInputs(at)))).toHaveLength(84);
  expect((await at.mustMake("doctor")).output).not.toContain("FAILED");
}

describe("a port that something else has", () => {
  let squatter: Server;
  let port: number;

  beforeAll(async () => {
    squatter = createServer();
    await new Promise<void>((listening) => squatter.listen(0, "127.0.0.1", listening));
    ({ port } = squatter.address() as AddressInfo);
    await checkout.configure({ "lakekeeper:ports": { lakekeeper: port } });
  });

  test("is named with its holder and both ways out", async () => {
    const output = await upFails();
    expect(output).toContain(`Port ${port} on 127.0.0.1, which lakekeeper needs, is taken by process ${process.pid}`);
    expect(output).toContain(`"kill ${process.pid}"`);
    expect(output).toContain("lakekeeper:ports");
  }, 600_000);

  test("is used once it is free", async () => {
    await new Promise((closed) => squatter.close(closed));
    await checkout.mustMake("up");
    expect((await checkout.outputs())["LAKEHOUSE_REST_URI"]).toBe(`http://127.0.0.1:${port}/catalog`);
    await expectWholeStack(checkout);
  }, 600_000);
});

describe("a binary of one's own", () => {
  /** A program that answers as a binary of Lakekeeper would. */
  async function binary(name: string, body: string): Promise<string> {
    const path = join(checkout.directory, name);
    await writeFile(path, `#!/bin/sh\n${body}\n`);
    await chmod(path, 0o755);
    await checkout.configure({ "lakekeeper:binary": path });
    return path;
  }

  test.each([
    ["that is not Lakekeeper", "echo 'GNU bash, version 5.2.15'", 'is not Lakekeeper: "version" prints "GNU bash'],
    ["that is too old", "echo 0.11.0", "is too old: it is 0.11.0, and 0.13 or newer is needed"],
  ])(
    "%s is refused, and what runs goes on running",
    async (_what, body, reason) => {
      const path = await binary("other", body);
      const output = await upFails();
      expect(output).toContain(`${path}, the configured Lakekeeper binary, ${reason}`);
      expect(output).toContain("Correct lakekeeper:binary (or LAKEKEEPER_BIN), or leave it out.");
      expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
    },
    600_000,
  );

  test("that ends at once is shown with the end of its log, which hides the secrets", async () => {
    await binary(
      "dying",
      'case "$1" in version) echo 0.13.3 ;; serve) echo "my last words"; env; exit 3 ;; *) exit 0 ;; esac',
    );
    const output = await upFails();
    expect(output).toContain(
      "lakekeeper ended with exit code 3. Its log is .state/local/logs/lakekeeper.log and ends with:",
    );
    expect(output).toContain("LAKEKEEPER__LISTEN_PORT=");

    const log = await checkout.read(".state/local/logs/lakekeeper.log");
    const secrets = [/^LAKEKEEPER__PG_ENCRYPTION_KEY=(.+)$/m, /postgresql:\/\/lakekeeper:([^@]+)@/].map(
      (pattern) => pattern.exec(log)?.[1] ?? "",
    );
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(15);
      expect(output.includes(secret)).toBe(false);
    }
  }, 600_000);

  test("that is taken out again leaves the stack as it was", async () => {
    await checkout.configure({});
    await checkout.mustMake("up");
    await expectWholeStack(checkout);
    expect(Object.keys(resourceCounts((await checkout.mustMake("up")).output))).toEqual(["unchanged"]);
  }, 600_000);
});

describe("a full disk", () => {
  let small: Checkout;
  let isMounted = false;

  const state = (): string => join(small.directory, ".state");

  beforeAll(async () => {
    small = await makeCheckout();
    await mkdir(state());
    isMounted = await command("mount", ["-t", "tmpfs", "-o", "size=20m,mode=755", "tmpfs", state()]).then(
      () => true,
      () => false,
    );
    if (!isMounted) console.warn("The tests of a full disk have done nothing: this user may not mount a small one.");
  });

  afterAll(async () => {
    if (isMounted) await small.make("down");
    if (isMounted) await command("umount", [state()]);
    await small.remove();
  });

  test("is named with the folder that has no room", async () => {
    if (!isMounted) return;
    const { code, output } = await small.make("up");
    expect(code).not.toBe(0);
    expect(output).toContain(`Postgres could not make its data folder ${state()}/local/postgres`);
    expect(output).toContain("The disk is full: free some space and run it again; nothing is lost.");
  }, 600_000);

  test("once it has room, up works", async () => {
    if (!isMounted) return;
    await command("mount", ["-o", "remount,size=1g", state()]);
    await small.mustMake("up");
    await expectWholeStack(small);
  }, 600_000);
});
