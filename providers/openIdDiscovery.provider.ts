import { z } from "zod";
import { NoAnswer, UserError } from "../clients/errors.ts";
import { examine } from "../clients/openId.ts";
import { checkFailure, checkInputs, configure, hasUnknown, type Provider } from "./provider.ts";

export interface OpenIdDiscoveryInputs {
  issuerUrl: string;
  tokenEndpoint?: string;
}

export interface OpenIdDiscoveryOutputs extends OpenIdDiscoveryInputs {
  oauth2ServerUri: string;
}

const url = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });
const schema = z.object({ issuerUrl: url, tokenEndpoint: url.optional() });

async function look(inputs: OpenIdDiscoveryInputs): Promise<OpenIdDiscoveryOutputs> {
  const { tokenEndpoint } = await examine(inputs.issuerUrl, inputs.tokenEndpoint);
  return { ...inputs, oauth2ServerUri: tokenEndpoint };
}

const openIdDiscovery: Provider<OpenIdDiscoveryInputs, OpenIdDiscoveryOutputs> = {
  configure,

  async check(_olds, news) {
    const result = checkInputs(schema, news);
    if (result.failures.length > 0 || hasUnknown(news)) return result;
    try {
      await look(news);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      result.failures.push(checkFailure(error.message));
    }
    return result;
  },

  /** A refresh compares, too, and goes on while the provider is down; a preview was told so by the check. */
  async diff(_id, olds, news) {
    if (olds.issuerUrl !== news.issuerUrl || olds.tokenEndpoint !== news.tokenEndpoint) return { changes: true };
    try {
      return { changes: (await look(news)).oauth2ServerUri !== olds.oauth2ServerUri };
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      console.log(`not refreshed, the state is kept as it is: ${error.message}`);
      return { changes: false };
    }
  },

  async create(inputs) {
    return { id: inputs.issuerUrl, outs: await look(inputs) };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, _olds, news) {
    return { outs: await look(news) };
  },

  async delete() {},
};

export default openIdDiscovery;
