import { connect, createServer, type Server } from "node:net";

/**
 * Leads one loopback address and port to another: what a private name stands for is the same before and after a
 * deployment, and each of the two has an address of its own.
 *
 * @param target where a new connection goes; undefined refuses it
 */
export async function forward(
  host: string,
  port: number,
  target: () => { host: string; port: number } | undefined,
): Promise<Server> {
  const server = createServer((incoming) => {
    const to = target();
    if (to === undefined) {
      incoming.destroy();
      return;
    }
    const outgoing = connect(to);
    incoming.pipe(outgoing).pipe(incoming);
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  return server;
}
