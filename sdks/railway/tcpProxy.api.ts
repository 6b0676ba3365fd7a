import { z } from "zod";
import type { Operation, Railway } from "./client/client.ts";
import { unlessGone } from "./client/errors.ts";
import { commitPatch } from "./client/patch.ts";

export interface TcpProxyPlace {
  readonly environmentId: string;
  readonly serviceId: string;
}

const proxy = z.object({
  id: z.string(),
  applicationPort: z.number(),
  domain: z.string(),
  proxyPort: z.number(),
  syncStatus: z.string(),
  deletedAt: z.string().nullish(),
});
export type LiveTcpProxy = z.infer<typeof proxy>;

const list: Operation<{ tcpProxies: LiveTcpProxy[] }> = {
  document: `query tcpProxies($environmentId: String!, $serviceId: String!) {
    tcpProxies(environmentId: $environmentId, serviceId: $serviceId) {
      id applicationPort domain proxyPort syncStatus deletedAt
    }
  }`,
  data: z.object({ tcpProxies: z.array(proxy) }),
};
const remove: Operation<{ tcpProxyDelete: boolean }> = {
  document: "mutation tcpProxyDelete($id: String!) { tcpProxyDelete(id: $id) }",
  data: z.object({ tcpProxyDelete: z.boolean() }),
};

const of = ({ serviceId }: TcpProxyPlace) => ({ of: `the TCP proxy of service ${serviceId}` });

/** The one that the service has; undefined when it has none, or is certainly gone itself. */
export async function readTcpProxy(client: Railway, place: TcpProxyPlace): Promise<LiveTcpProxy | undefined> {
  const { environmentId, serviceId } = place;
  const found = await unlessGone(client.query(list, { environmentId, serviceId }, of(place)));
  return found?.tcpProxies.find(
    ({ deletedAt, syncStatus }) => deletedAt == null && !["DELETING", "DELETED"].includes(syncStatus),
  );
}

/** By a patch of the environment: a proxy made by `tcpProxyCreate` leads nowhere until the next deployment. */
export async function createTcpProxy(client: Railway, place: TcpProxyPlace, applicationPort: number): Promise<void> {
  const { environmentId, serviceId } = place;
  const patch = { services: { [serviceId]: { networking: { tcpProxies: { [applicationPort]: {} } } } } };
  await commitPatch(client, environmentId, patch, { ...of(place), message: `TCP proxy to port ${applicationPort}` });
}

/** Finding it gone is success. */
export async function deleteTcpProxy(client: Railway, place: TcpProxyPlace, id: string): Promise<void> {
  await unlessGone(client.mutateRepeatably(remove, { id }, of(place)));
}
