import { isIP } from "node:net";

const PRIVATE_NETWORKS = /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/;
const PRIVATE_NAMES = /^[^.]+$|\.(localhost|local|internal|lan|svc)$/;

/** True for an address that only this machine or a private network leads to, so that it may be spoken to in the clear. */
export function isPrivate(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  switch (isIP(host)) {
    case 4:
      return PRIVATE_NETWORKS.test(host);
    case 6:
      return host === "::1" || /^f[cd]/.test(host);
    default:
      return PRIVATE_NAMES.test(host);
  }
}
