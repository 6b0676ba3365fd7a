import { z } from "zod";
import { UserError } from "../../clients/errors.ts";
import { waitFor } from "../../clients/retry.ts";
import { checkInputs, hasUnknown, PartialFailure, type Provider } from "../../providers/provider.ts";
import { configure, railway, type Railway } from "./client/client.ts";
import { port, servicePlace } from "./inputs.schema.ts";
import * as api from "./tcpProxy.api.ts";

export interface TcpProxyInputs extends api.TcpProxyPlace {
  projectId: string;
  applicationPort: number;
}

export interface TcpProxyOutputs extends TcpProxyInputs {
  domain: string;
  proxyPort: number;
}

const schema = z.object({ ...servicePlace, applicationPort: port });

const provider: Provider<TcpProxyInputs, TcpProxyOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(_id, olds, news) {
    if (hasUnknown(news)) return { changes: true };
    const replaces = (["projectId", "environmentId", "serviceId", "applicationPort"] as const).filter(
      (name) => olds[name] !== news[name],
    );
    // A service has one at most.
    return { changes: replaces.length > 0, replaces, deleteBeforeReplace: replaces.length > 0 };
  },

  async create(inputs) {
    const client = railway();
    const there = await api.readTcpProxy(client, inputs);
    if (there === undefined) await api.createTcpProxy(client, inputs, inputs.applicationPort);
    else console.warn(`adopting the TCP proxy of service ${inputs.serviceId} (${there.id}), which is there already`);
    const live = await awaitShown(client, inputs);
    if (live.applicationPort !== inputs.applicationPort) throw other(live, inputs);
    return { id: live.id, outs: await awaitActive(client, live, inputs) };
  },

  async read(id, props) {
    const live = await api.readTcpProxy(railway(), props);
    return live?.id === id ? { id, props: observed(props, live) } : {};
  },

  async update(id, _olds, news) {
    const client = railway();
    const live = await api.readTcpProxy(client, news);
    if (live?.id === id) return { outs: await awaitActive(client, live, news) };
    throw new UserError(
      `The TCP proxy ${id} of service ${news.serviceId} is gone. Run \`pulumi up --refresh\`, which makes a new one.`,
    );
  },

  async delete(id, props) {
    const client = railway();
    await api.deleteTcpProxy(client, props, id);
    // The next one can be made only when it is gone.
    await waitFor(
      async () => {
        const live = await api.readTcpProxy(client, props);
        return live?.id === id ? { waiting: `it is ${live.syncStatus}` } : { value: true };
      },
      {
        what: `the TCP proxy of service ${props.serviceId} to be gone`,
        deadlineSeconds: 60,
        remedy: "Look at it on railway.com and run the command again.",
      },
    );
  },
};

export default provider;

function other({ id, applicationPort }: api.LiveTcpProxy, inputs: TcpProxyInputs): UserError {
  return new UserError(
    `Service ${inputs.serviceId} has a TCP proxy already (${id}), to port ${applicationPort}, and can have one only. ` +
      `It was left alone: remove it on railway.com to have one to port ${inputs.applicationPort}.`,
  );
}

/** Until it shows up its id is not known. What fails before then is found and taken over by the next run. */
async function awaitShown(client: Railway, inputs: TcpProxyInputs): Promise<api.LiveTcpProxy> {
  return waitFor(
    async () => {
      const live = await api.readTcpProxy(client, inputs);
      return live === undefined ? { waiting: "it does not show up" } : { value: live };
    },
    {
      what: `the TCP proxy of service ${inputs.serviceId}`,
      deadlineSeconds: 60,
      remedy: "Running the command again continues from here.",
    },
  );
}

async function awaitActive(
  client: Railway,
  before: api.LiveTcpProxy,
  inputs: TcpProxyInputs,
): Promise<TcpProxyOutputs> {
  let live = before;
  try {
    live = await waitFor(
      async () => {
        if (live.syncStatus === "ACTIVE") return { value: live };
        live = (await api.readTcpProxy(client, inputs)) ?? live;
        return live.syncStatus === "ACTIVE" ? { value: live } : { waiting: `it is ${live.syncStatus}` };
      },
      {
        what: `the TCP proxy of service ${inputs.serviceId} to be active`,
        deadlineSeconds: 120,
        remedy: "If it was made in an older way, it needs a deployment of the service; then run the command again.",
      },
    );
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new PartialFailure(live.id, observed(inputs, live), [error.message]);
  }
  return observed(inputs, live);
}

function observed(inputs: TcpProxyInputs, { applicationPort, domain, proxyPort }: api.LiveTcpProxy): TcpProxyOutputs {
  return { ...inputs, applicationPort, domain, proxyPort };
}
