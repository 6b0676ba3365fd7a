import { z } from "zod";
import { freePort } from "../../platforms/local/ports.ts";
import { checkInputs, configure, type Provider } from "../provider.ts";
import { differs, port } from "./inputs.ts";

export interface PortsInputs {
  names: string[];
  fixed: Record<string, number>;
}

export interface PortsOutputs extends PortsInputs {
  ports: Record<string, number>;
}

const schema = z
  .object({ names: z.array(z.string()).min(1, "must name something"), fixed: z.record(z.string(), port) })
  .superRefine(({ names, fixed }, context) => {
    const users = new Map<number, string>();
    for (const [name, chosen] of Object.entries(fixed)) {
      const report = (message: string) => context.addIssue({ code: "custom", path: ["fixed", name], message });
      if (!names.includes(name)) report(`is the port of nothing: lakekeeper:ports is for ${names.join(", ")}`);
      if (users.has(chosen)) report(`must differ from the port of ${users.get(chosen)} in lakekeeper:ports`);
      users.set(chosen, name);
    }
  });

/** What is fixed, what was picked before, and a free port for the rest. */
async function pick({ names, fixed }: PortsInputs, kept: Record<string, number> = {}): Promise<Record<string, number>> {
  const taken = new Set(Object.values(fixed));
  const ports: Record<string, number> = {};
  for (const name of names) {
    const before = kept[name];
    const port = fixed[name] ?? (before !== undefined && !taken.has(before) ? before : await freePort(taken));
    taken.add(port);
    ports[name] = port;
  }
  return ports;
}

const ports: Provider<PortsInputs, PortsOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(_id, olds, news) {
    return { changes: differs(olds, news, ["names", "fixed"]) };
  },

  async create(inputs) {
    return { id: "ports", outs: { ...inputs, ports: await pick(inputs) } };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, olds, news) {
    return { outs: { ...news, ports: await pick(news, olds.ports) } };
  },

  /** Ports are only remembered, not held. */
  async delete() {},
};

export default ports;
