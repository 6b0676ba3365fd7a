import type { ConnectionOptions } from "node:tls";

/** How a connection is tried with TLS: not at all, or with what is verified. */
type Tls = false | ConnectionOptions;

const encrypted: Tls = { rejectUnauthorized: false };

/**
 * What `sslmode` means: one way to connect, or a second for when the first fails.
 *
 * @throws Error in lib/pq's words for a mode that there is not
 */
export function tlsAttempts(sslmode: string, host: string): [Tls, ...Tls[]] {
  switch (sslmode) {
    case "disable":
      return [false];
    case "allow":
      return [false, encrypted];
    case "prefer":
      return [encrypted, false];
    case "require":
      return [encrypted];
    case "verify-ca":
      return [{ rejectUnauthorized: true, checkServerIdentity: () => undefined }];
    case "verify-full":
      return [{ rejectUnauthorized: true, servername: host }];
    default:
      throw new Error(
        `pq: wrong value for "sslmode": "${sslmode}" is not supported; supported values are ` +
          "disable, allow, prefer, require, verify-full, or verify-ca",
      );
  }
}
