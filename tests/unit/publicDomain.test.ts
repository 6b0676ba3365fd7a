import { type Declared, dependencies, runMocked, settle } from "../support/mockedProgram.ts";

let declared: Declared[];
let uri: string;

beforeAll(async () => {
  const made = await runMocked(async () => {
    const { PublicDomain } = await import("../../components/publicDomain.ts");
    return new PublicDomain("public", {
      projectId: "p",
      environmentId: "e",
      serviceId: "s",
      targetPort: 8181,
      domain: "catalog.example.com",
      zoneId: "zone",
    });
  });
  declared = made.declared;
  uri = (await settle(made.program.uri)).value;
});

const record = async (name: string): Promise<Record<string, unknown>> => {
  const { inputs } = declared.find((one) => one.type === "DnsRecord" && one.name === name)!;
  const settled = Object.entries(inputs).map(async ([key, value]) => [key, (await settle(value)).value] as const);
  return Object.fromEntries(await Promise.all(settled));
};

test("the zone is given the two records that Railway asks for", async () => {
  expect(await record("public-cname")).toEqual({
    zoneId: "zone",
    name: "catalog.example.com",
    type: "CNAME",
    ttl: 1,
    proxied: false,
    content: "abc.up.railway.app",
  });
  expect(await record("public-txt")).toEqual({
    zoneId: "zone",
    name: "_railway-verify.catalog.example.com",
    type: "TXT",
    ttl: 1,
    content: '"railway-verify=abc"',
  });
});

test("clients are given the address once Railway has verified it, which comes after the records", () => {
  expect(uri).toBe("https://catalog.example.com");
  const verification = declared.find(({ type }) => type === "CustomDomainVerification")!;
  expect(dependencies(verification)).toEqual(["DnsRecord public-cname", "DnsRecord public-txt"]);
});
