import { join } from "node:path";
import type { Lookup } from "../../../emulators/railway/customDomains.ts";
import { resourceCounts } from "../../support/checkout.ts";
import verification from "../../../sdks/railway/customDomainVerification.provider.ts";
import { makeProgram, type Program } from "../cloudflare/program.ts";
import { administrator, startCloudflare, type TestCloudflare } from "../cloudflare/support.ts";
import { use } from "./providerWorld.ts";
import { startTestRailway, TOKEN, WORKSPACE, type TestRailway } from "./support.ts";

/*
 * A domain of one's own under the real engine: Railway's emulator believes in it as soon as it finds in the zone, which
 * is at the emulator of Cloudflare, the records that it asks for.
 */

const DOMAIN = "catalog.example.com";

let cloudflare: TestCloudflare;
let railway: TestRailway;
let program: Program;

beforeAll(async () => {
  cloudflare = await startCloudflare();
  railway = await startTestRailway({ lookup });
  const variables = {
    CLOUDFLARE_API_TOKEN: administrator.value,
    CLOUDFLARE_BASE_URL: `${cloudflare.url}/client/v4`,
    RAILWAY_ENDPOINT: railway.url,
    RAILWAY_API_TOKEN: TOKEN,
  };
  const plugins = join(process.cwd(), "emulators/plugins/bin");
  program = await makeProgram(plugins, variables, ["components", "providers", "sdks", "clients"]);
}, 600_000);

afterAll(async () => {
  await program.remove();
  await railway.stop();
  await cloudflare.stop();
});

const records = async (): Promise<Record<string, unknown>[]> => {
  const { result } = await cloudflare.call("GET", `/zones/${cloudflare.zones[0]!.id}/dns_records`);
  return result as unknown as Record<string, unknown>[];
};

const lookup: Lookup = async (name, type) =>
  (await records())
    .filter((record) => record["name"] === name && record["type"] === type)
    .map(({ content }) => String(content).replace(/^"(.*)"$/, "$1"));

const source = (): string => `
import * as railway from "@pulumiverse/railway";
import { PublicDomain } from "./components/publicDomain.ts";
const project = new railway.Project("project", { name: "catalog", workspaceId: "${WORKSPACE}" });
const place = { projectId: project.id, environmentId: project.defaultEnvironmentId };
const service = new railway.Service("serve", { ...place, name: "Lakekeeper" });
const domain = { domain: "${DOMAIN}", zoneId: "${cloudflare.zones[0]!.id}", targetPort: 8181 };
export const { uri } = new PublicDomain("public", { ...place, serviceId: service.id, ...domain });
`;

test("the zone is given what Railway asks for, and the address once Railway has seen it there", async () => {
  const { code, output } = await program.pulumi("up", source());
  expect([code, output]).toEqual([0, expect.stringContaining("created")]);
  expect(await program.outputs()).toEqual({ uri: `https://${DOMAIN}` });
  expect(await records()).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: DOMAIN, type: "CNAME", proxied: false }),
      expect.objectContaining({ name: `_railway-verify.${DOMAIN}`, type: "TXT" }),
    ]),
  );
  expect(Object.keys(resourceCounts((await program.pulumi("up")).output))).toEqual(["unchanged"]);
}, 600_000);

test("without its record the domain is not verified, and the wait says what is missing", async () => {
  const domain = railway.account.store.list("domains").find((one) => one.domain === DOMAIN)!;
  railway.account.store.save("domains", Object.assign(domain, { isVerified: false }));
  const [cname] = (await records()).filter(({ type }) => type === "CNAME");
  await cloudflare.call("DELETE", `/zones/${cloudflare.zones[0]!.id}/dns_records/${String(cname!["id"])}`);
  await use(railway, TOKEN);
  const inputs = { projectId: domain.projectId, customDomainId: domain.id, domain: DOMAIN, timeoutSeconds: 1 };
  await expect(verification.create(inputs)).rejects.toThrow(
    new RegExp(`Railway to verify ${DOMAIN}[^]*it has not seen ${DOMAIN} -> ${String(cname!["content"])} yet`),
  );
}, 600_000);

test("destroy, after a refresh has seen what is gone, leaves neither records nor the domain", async () => {
  expect((await program.pulumi("refresh")).code).toBe(0);
  expect((await program.pulumi("destroy")).code).toBe(0);
  expect(await records()).toEqual([]);
  expect(railway.liveObjects().domains).toEqual([]);
}, 600_000);
