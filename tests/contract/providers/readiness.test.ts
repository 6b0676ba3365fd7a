import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { clock } from "../../../clients/retry.ts";
import readiness from "../../../providers/readiness.provider.ts";

let server: Server;
let asked: string[];
let statuses: number[];

beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response
      .writeHead(statuses.length > 1 ? (statuses.shift() ?? 500) : (statuses[0] ?? 500))
      .end('{"health":"unknown"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  jest.spyOn(clock, "sleep").mockImplementation(() => new Promise((resolve) => setImmediate(resolve)));
});

afterEach(async () => {
  jest.restoreAllMocks();
  await new Promise((resolve) => server.close(resolve));
});

function inputs(timeoutSeconds = 60): { uri: string; instance: string; timeoutSeconds: number } {
  const { port } = server.address() as AddressInfo;
  return { uri: `http://127.0.0.1:${port}`, instance: "first", timeoutSeconds };
}

test("goes on once /health answers 200", async () => {
  statuses = [503, 503, 200];
  const { outs } = await readiness.create(inputs());
  expect(outs).toEqual(inputs());
  expect(asked).toEqual(["/health", "/health", "/health"]);
});

test("after its time it says what it saw last", async () => {
  statuses = [503];
  const start = Date.now();
  jest.spyOn(clock, "now").mockImplementation(() => start + asked.length * 1000);
  await expect(readiness.create(inputs(3))).rejects.toThrow(/Waited 3 s for Lakekeeper .*answers 503 .*unknown/s);
});

test("another server process at the same address is waited for again", async () => {
  statuses = [200];
  const olds = inputs();
  expect(await readiness.diff("id", olds, { ...olds, instance: "second" })).toEqual({ changes: true });
  expect(await readiness.diff("id", olds, olds)).toEqual({ changes: false });
  await readiness.update("id", olds, { ...olds, instance: "second" });
  expect(asked).toEqual(["/health"]);
});

test("an address that is none is refused in the preview", async () => {
  const { failures } = await readiness.check({}, { ...inputs(), uri: "lakekeeper" });
  expect(failures.map(({ reason }) => reason)).toEqual([
    'uri must be the http(s) address of Lakekeeper, not "lakekeeper"',
  ]);
});
