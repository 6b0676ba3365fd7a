import { z } from "zod";
import type { Checkout } from "../../tests/support/checkout.ts";
import type { Measure } from "./measure.ts";

const most = 3_072;

const exported = z.object({
  deployment: z.object({
    resources: z.array(z.object({ type: z.string(), inputs: z.record(z.string(), z.unknown()).default({}) })),
  }),
});

export interface StoredResource {
  readonly type: string;
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** The resources in the state of the checkout's local stack, secrets in the clear. */
export async function storedResources(checkout: Checkout): Promise<StoredResource[]> {
  const state = await checkout.engine("stack", "export", "--show-secrets");
  return exported.parse(JSON.parse(state)).deployment.resources;
}

/** What the engine keeps of the provider of each dynamic resource. */
export const state: Measure = {
  name: "state",
  target: `__provider under ${most} bytes for each dynamic resource`,
  async run(checkout) {
    const sizes = (await storedResources(checkout))
      .filter(({ type }) => type.startsWith("pulumi-nodejs:dynamic"))
      .map(({ inputs }) => Buffer.byteLength(z.string().parse(inputs["__provider"])));
    const largest = Math.max(...sizes);
    return { seen: `${largest} bytes at most, ${sizes.length} resources`, kept: sizes.length > 0 && largest < most };
  },
};
