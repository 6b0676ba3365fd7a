import { isDeepStrictEqual } from "node:util";
import { checkInputs, configure, PartialFailure, type Provider } from "./provider.ts";
import { verificationSchema, type VerificationInputs } from "./verification/inputs.ts";
import type { Report } from "./verification/report.ts";
import { runVerification } from "./verification/run.ts";

export interface VerificationOutputs extends VerificationInputs {
  report: Report;
  vendingVerified: boolean;
}

const ID = "verification";

/** What decides the outcome. Whenever one of these is another, the checks run again. */
const INPUTS = [
  "connection",
  "readerToken",
  "reader",
  "onlyReader",
  "warehouse",
  "warehouseId",
  "location",
  "namespaces",
  "smokeTable",
  "tableRequired",
  "vending",
  "writeProbe",
  "storage",
  "triggers",
] as const satisfies (keyof VerificationInputs)[];

/** Throws when a check that must pass did not; the report is kept in state all the same, and the next run checks again. */
async function verify(inputs: VerificationInputs): Promise<VerificationOutputs> {
  const report = await runVerification(inputs);
  const { fatal, vendingVerified } = report;
  const outs = { ...inputs, report, vendingVerified };
  if (fatal.length > 0) {
    const reason = ["The catalog is not ready for clients (`make doctor` checks again):", ...fatal].join("\n  - ");
    throw new PartialFailure(ID, outs, [reason]);
  }
  if (inputs.vending === "auto" && !vendingVerified) {
    const failed = report.checks
      .filter(({ outcome }) => outcome === "failed")
      .map(({ check, seen }) => `${check}: ${seen}`);
    console.log(`vending is not used, since it could not be verified: ${failed.join("; ") || "nothing was vended"}`);
  }
  return outs;
}

const verification: Provider<VerificationInputs, VerificationOutputs> = {
  configure,

  async check(_olds, news) {
    const secrets = ["connection", "readerToken", "reader", "onlyReader", "storage"];
    return checkInputs(verificationSchema, news, { secrets });
  },

  async diff(_id, olds, news) {
    const allPassed = olds.report.checks.every(({ outcome }) => outcome !== "failed");
    return { changes: !allPassed || INPUTS.some((name) => !isDeepStrictEqual(olds[name], news[name])) };
  },

  async create(inputs) {
    return { id: ID, outs: await verify(inputs) };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, _olds, news) {
    return { outs: await verify(news) };
  },

  /** A verification leaves nothing behind. */
  async delete() {},
};

export default verification;
