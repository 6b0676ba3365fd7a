import { once } from "node:events";
import { createServer } from "node:net";
import { UserError } from "../../../clients/errors.ts";

const PRIVATE_NAME = /\b([a-z0-9-]+)\.railway\.internal\b/g;

/**
 * The environment of a container that has no network of its own: private names become the loopback addresses of their
 * services, and what is to listen on all addresses listens on the container's own. A name of no service stays.
 *
 * @param hosts addresses by private name, without the domain.
 */
export function localized(
  environment: Readonly<Record<string, string>>,
  address: string,
  hosts: Readonly<Record<string, string>>,
): Record<string, string> {
  const local = (value: string): string =>
    value === "::" || value === "0.0.0.0"
      ? address
      : value.replace(PRIVATE_NAME, (name, service: string) => hosts[service] ?? name);
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, local(value)]));
}

/** @throws UserError on a machine that has no such loopback address, as macOS has none but 127.0.0.1. */
export async function requireAddress(address: string): Promise<void> {
  const server = createServer().listen(0, address);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new UserError(
      `A service cannot have the loopback address ${address} on this machine: ${(cause as Error).message}. ` +
        `Linux has all of 127.0.0.0/8; on macOS add it with "sudo ifconfig lo0 alias ${address}", or run this on Linux.`,
      { cause },
    );
  }
  server.close();
}
