import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * Gives `work` another address of a server, behind which everything that is sent, in either direction, arrives late, as
 * through a network. To open a connection takes no longer than without.
 *
 * @param milliseconds one way: a request and its answer are late by twice as much
 */
export async function withLatency<T>(
  address: string,
  milliseconds: number,
  work: (address: string) => Promise<T>,
): Promise<T> {
  const { hostname: host, port } = new URL(address);
  const sockets = new Set<Socket>();
  const carry = (from: Socket, to: Socket): void => {
    sockets.add(from.setNoDelay());
    // Timers of one length fire in the order in which they were set.
    from.on("data", (chunk) => setTimeout(() => to.write(chunk), milliseconds));
    from.on("end", () => setTimeout(() => to.end(), milliseconds));
    from.on("error", () => to.destroy());
    from.on("close", () => sockets.delete(from));
  };
  const relay = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect({ host, port: Number(port), allowHalfOpen: true });
    carry(client, server);
    carry(server, client);
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  try {
    return await work(`http://127.0.0.1:${(relay.address() as AddressInfo).port}`);
  } finally {
    for (const socket of sockets) socket.destroy();
    relay.close();
    await once(relay, "close");
  }
}
