import { readFileSync } from "node:fs";
import { readConfig } from "../../config.ts";

const local = { "lakekeeper:platform": "local" };
const ACCOUNT = "0123456789abcdef0123456789abcdef";

function problemsOf(settings: Record<string, string>): string {
  try {
    readConfig({ ...local, ...settings });
  } catch (error) {
    return (error as Error).message;
  }
  return "no problem";
}

describe("a stack that sets only its platform", () => {
  test("gets the runbook's values", () => {
    expect(readConfig(local)).toMatchObject({
      version: "0.13.3",
      warehouse: "lakehouse",
      bucket: "lakehouse",
      keyPrefix: "",
      stsTokenValiditySeconds: 3600,
      namespaces: ["main.default", "main.test"],
      vending: "auto",
      cutover: "read",
      auth: { mode: "bootstrap-token", tokenLifetimeSeconds: 90 * 86_400, renewBeforeSeconds: 30 * 86_400 },
    });
  });
});

describe("settings of other packages", () => {
  test("are left to them", () => {
    expect(readConfig({ ...local, "cloudflare:apiToken": "x" }).platform).toBe("local");
  });
});

describe("a wrong setting is named with its value and what would be right", () => {
  test.each([
    [
      { "lakekeeper:auth": '{"tokenLifetimeDays":"ten"}' },
      'lakekeeper:auth.tokenLifetimeDays is "ten": it must be a number',
    ],
    [
      { "lakekeeper:stsTokenValiditySeconds": "0" },
      'lakekeeper:stsTokenValiditySeconds is "0": it must be a whole number from 1 to 604800',
    ],
    [{ "lakekeeper:stsTokenValiditySeconds": "604801" }, "must be a whole number from 1 to 604800"],
    [{ "lakekeeper:vending": "maybe" }, 'lakekeeper:vending is "maybe": it must be one of off, auto, required'],
    [{ "lakekeeper:bucket": "Lake_House" }, 'lakekeeper:bucket is "Lake_House": it must be an R2 bucket name'],
    [{ "lakekeeper:keyPrefix": "/warehouse/" }, "without a slash at either end"],
    [
      { "lakekeeper:r2": '{"accountId":"acme"}' },
      `lakekeeper:r2.accountId is "acme": it must be Cloudflare's account id, 32 hexadecimal digits`,
    ],
    [
      { "lakekeeper:r2": '{"endpoint":"https://r2.example/lakehouse"}' },
      'lakekeeper:r2.endpoint is "https://r2.example/lakehouse": it must be the URL of the S3 API alone, without bucket or path',
    ],
    [
      { "lakekeeper:r2": '{"endpoint":"r2.example"}' },
      'lakekeeper:r2.endpoint is "r2.example": it must be the http(s) URL of the S3 API',
    ],
    [{ "lakekeeper:namespaces": '["main+x"]' }, 'lakekeeper:namespaces.0 is "main+x": it must be one to five levels'],
    [{ "lakekeeper:namespaces": "main" }, 'lakekeeper:namespaces is "main": it must be a list of namespaces'],
    [
      { "lakekeeper:auth": '{"mode":"saml"}' },
      'lakekeeper:auth.mode is "saml": it must be one of bootstrap-token, oidc',
    ],
    [{ "lakekeeper:auth": '{"issuerUrl":"id.example.com"}' }, "it must be an http or https URL"],
    [{ "lakekeeper:ports": '{"lakekeeper":80}' }, "lakekeeper:ports.lakekeeper is 80"],
    [{ "lakekeeper:cutover": "done" }, "must be one of sql, read, write, retired"],
    [{ "lakekeeper:vendng": "off" }, "lakekeeper:vendng is not a setting; the settings are platform,"],
    [
      { "lakekeeper:verification": '{"probe":true}' },
      "lakekeeper:verification.probe is not a setting; the fields of lakekeeper:verification are smokeTable, writeProbe",
    ],
  ])("%j", (settings, expected) => {
    expect(problemsOf(settings as Record<string, string>)).toContain(expected);
  });

  test("a platform that is not set", () => {
    expect(() => readConfig({})).toThrow("lakekeeper:platform is not set: it must be one of local, railway");
  });

  test("a renewal window as long as the lifetime, also beside another wrong field", () => {
    const message = problemsOf({ "lakekeeper:auth": '{"tokenLifetimeDays":10,"renewBeforeDays":10,"mode":"x"}' });
    expect(message).toContain(
      "lakekeeper:auth.renewBeforeDays is 10: it must be less than auth.tokenLifetimeDays (10)",
    );
    expect(message).toContain("lakekeeper:auth.mode");
  });
});

describe("with a provider of somebody else's", () => {
  const oidc = { "lakekeeper:auth": '{"mode":"oidc"}' };

  test("what is missing of its clients is told at once, with the commands to set it", () => {
    const message = problemsOf({
      ...oidc,
      "lakekeeper:authClients": '{"deployer":{"clientId":"a","clientSecret":"hush"}}',
    });
    expect(message).toContain("lakekeeper:auth.issuerUrl is not set");
    expect(message).toContain("--secret --path lakekeeper:authClients.ml-runner.clientSecret");
    expect(message).toContain("lakekeeper:authClients.karma.clientId is not set");
    expect(message).not.toContain("authClients.deployer.clientSecret");
    expect(message).not.toContain("hush");
  });

  test("a client of nobody is refused, and no secret shown", () => {
    const message = problemsOf({ "lakekeeper:authClients": '{"reader":{"clientId":"a","clientSecret":"hush"}}' });
    expect(message).toContain("lakekeeper:authClients.reader is not a setting");
    expect(message).not.toContain("hush");
  });
});

describe("after a change of mode", () => {
  const previous = (settings: object, auth: object = {}) =>
    problemsOf({ "lakekeeper:auth": JSON.stringify({ ...auth, previous: { until: "2027-01-31", ...settings } }) });

  test.each([
    [{ mode: "oidc", issuerUrl: "https://id.example.com" }, {}, "no problem"],
    [{ mode: "oidc" }, {}, "lakekeeper:auth.previous.issuerUrl is not set"],
    [{ mode: "bootstrap-token" }, {}, "lakekeeper:auth.previous is the provider in use"],
    [{ mode: "bootstrap-token" }, { mode: "none" }, "with lakekeeper:auth.mode none nobody is asked for a token"],
    [{ mode: "oidc", until: "soon" }, {}, 'lakekeeper:auth.previous.until is "soon": it must be a day such as'],
    [{ mode: "none" }, {}, 'lakekeeper:auth.previous.mode is "none": it must be one of bootstrap-token, oidc'],
  ])("%j with %j: %s", (settings, auth, expected) => {
    expect(previous(settings, auth)).toContain(expected);
  });
});

test("a catalog with a public address is never without authentication", () => {
  const none = { "lakekeeper:auth": '{"mode":"none"}' };
  expect(problemsOf(none)).toBe("no problem");
  const railway = {
    ...none,
    "lakekeeper:platform": "railway",
    "lakekeeper:sqlCatalog": "sqlite:///catalog.db",
    "lakekeeper:r2": JSON.stringify({ accountId: ACCOUNT }),
    "cloudflare:apiToken": "x",
  };
  const message = problemsOf(railway);
  expect(message).toContain("has a problem; nothing was changed");
  expect(message).toContain('lakekeeper:auth.mode is "none": on railway the catalog has a public address');
});

test("every problem is reported at once", () => {
  const message = problemsOf({ "lakekeeper:vending": "x", "lakekeeper:cutover": "y", "lakekeeper:allowReplace": "z" });
  expect(message).toContain("has 3 problems; nothing was changed");
});

describe("on railway", () => {
  const railway = { "lakekeeper:platform": "railway" };
  const complete = {
    ...railway,
    "lakekeeper:sqlCatalog": "postgresql://writer:hush@host/catalog",
    "lakekeeper:r2": JSON.stringify({ accountId: ACCOUNT, credentials: "provided" }),
    "lakekeeper:r2Credentials": '{"accessKeyId":"id","secretAccessKey":"hush","token":"hush"}',
  };

  test("what is missing is told at once, with the commands to set it", () => {
    const message = problemsOf(railway);
    expect(message).toContain("lakekeeper:r2.accountId is not set");
    expect(message).toContain("pulumi config set --stack stack --path lakekeeper:r2.accountId");
    expect(message).toContain("pulumi config set --stack stack --secret cloudflare:apiToken");
  });

  test("so are the keys of a token that somebody else has made", () => {
    const message = problemsOf({ ...railway, "lakekeeper:r2": '{"credentials":"provided"}' });
    expect(message).toContain("pulumi config set --stack stack --secret --path lakekeeper:r2Credentials.token");
    expect(message).not.toContain("cloudflare:apiToken");
  });

  test("an incomplete credential is named without what is there", () => {
    const message = problemsOf({ ...complete, "lakekeeper:r2Credentials": '{"accessKeyId":"id","token":"hush"}' });
    expect(message).toContain("lakekeeper:r2Credentials.secretAccessKey is not set: its S3 secret access key");
    expect(message).not.toContain("hush");
  });

  test("the issuer's Worker is at one place, and at a domain of one's own needs no name on workers.dev", () => {
    const raw = { ...complete, "lakekeeper:r2": JSON.stringify({ accountId: ACCOUNT }), "cloudflare:apiToken": "x" };
    const workersDomain = { hostname: "issuer.example.com", zoneId: "z1" };
    const set = (auth: object) => ({ ...raw, "lakekeeper:auth": JSON.stringify(auth) });
    expect(readConfig(set({ workersDomain })).auth.workersDomain).toEqual(workersDomain);
    expect(problemsOf(set({}))).toContain("or set lakekeeper:auth.workersDomain (hostname, zoneId)");
    expect(problemsOf(set({ workersDomain, workersSubdomain: "acme" }))).toContain(
      "lakekeeper:auth names 2 places for the issuer's documents (workersSubdomain, workersDomain): leave out all but one",
    );
    expect(problemsOf(set({ workersDomain: { ...workersDomain, hostname: "https://x.example.com" } }))).toContain(
      'lakekeeper:auth.workersDomain.hostname is "https://x.example.com": it must be a domain without a scheme',
    );
  });

  test("a bucket that the stack does not know keeps its own rules", () => {
    const r2 = JSON.stringify({ accountId: ACCOUNT, credentials: "provided", abortUploadsAfterDays: 7 });
    expect(problemsOf({ ...complete, "lakekeeper:r2": r2 })).toContain(
      'lakekeeper:r2.bucket is "existing": rules (abortUploadsAfterDays, locks) take the place of all that the bucket has',
    );
  });

  test.each([
    ["", "main/default/", undefined],
    ["warehouse", "warehouse/main/", undefined],
    ["warehouse/main", "warehouse/", 'lakekeeper:r2.locks holds "warehouse/"'],
    ["warehouse", "warehouse/", 'lakekeeper:r2.locks holds "warehouse/"'],
    ["warehouse", "warehouse", 'lakekeeper:r2.locks.0.prefix is "warehouse": it must be a folder such as'],
  ])(
    "of a warehouse in %j, the folder %j is locked only when Lakekeeper need not delete there",
    (keyPrefix, prefix, problem) => {
      const r2 = { accountId: ACCOUNT, credentials: "provided", bucket: "import", locks: [{ prefix, days: 7 }] };
      const raw = { ...complete, "lakekeeper:r2": JSON.stringify(r2), "lakekeeper:keyPrefix": keyPrefix };
      if (problem === undefined) expect(readConfig(raw).r2.locks).toEqual([{ prefix, days: 7 }]);
      else expect(problemsOf(raw)).toContain(problem);
    },
  );

  test("an external Postgres needs its URL", () => {
    expect(problemsOf({ ...complete, "lakekeeper:postgres": "external" })).toContain(
      "lakekeeper:postgresUrl is not set",
    );
  });

  test("the rest has defaults", () => {
    expect(readConfig(complete)).toMatchObject({
      postgres: "managed",
      railway: { replicas: 1, backups: ["DAILY", "WEEKLY"], deployTimeoutSeconds: 1200 },
      r2: { accountId: ACCOUNT, jurisdiction: "default" },
    });
    expect(readConfig(complete).mlRunner).toBeUndefined();
  });
});

describe("authz", () => {
  const authz = (fields: object, credentials?: object) => ({
    "lakekeeper:authz": JSON.stringify({ mode: "openfga", ...fields }),
    ...(credentials && { "lakekeeper:authzCredentials": JSON.stringify(credentials) }),
  });
  const endpoint = "https://fga.example.com:8081";
  const apiKey = "key-of-the-test";

  test("lets everybody do everything unless it is set", () => {
    expect(readConfig(local)).toMatchObject({ authz: { mode: "allow-all" }, authzCredentials: {} });
  });

  test.each([
    [authz({ endpoint }, { apiKey })],
    [authz({ endpoint: "http://openfga:8081" })],
    [authz({ endpoint: "http://openfga.railway.internal:8081" })],
    [authz({ endpoint: "http://[fd12::1]:8081" })],
    [authz({ endpoint: "http://192.168.1.2:8081" }, { apiKey })],
    [authz({ endpoint, tokenEndpoint: "https://id/token", scope: "a b" }, { clientId: "c", clientSecret: "s" })],
  ])("takes %j", (settings) => {
    expect(problemsOf(settings)).toBe("no problem");
  });

  test.each([
    [authz({ mode: "cedar" }), 'lakekeeper:authz.mode is "cedar": it must be one of allow-all, openfga'],
    [authz({}), "lakekeeper:authz.endpoint is not set: the address of OpenFGA's gRPC API"],
    [authz({ endpoint: "fga" }), 'lakekeeper:authz.endpoint is "fga": it must be an http or https URL'],
    [
      authz({ endpoint: "http://fga.example.com:8081" }, { apiKey }),
      'lakekeeper:authz.endpoint is "http://fga.example.com:8081": it must be https, or an http address of this machine',
    ],
    [authz({ endpoint: "http://172.32.0.1:8081" }, { apiKey }), "it must be https, or an http address of this machine"],
    [authz({ endpoint }), "lakekeeper:authzCredentials.apiKey is not set: OpenFGA's preshared key"],
    [authz({ endpoint }), "config set --stack stack --secret --path lakekeeper:authzCredentials.apiKey"],
    [authz({ endpoint }, { clientId: "c" }), "lakekeeper:authzCredentials.clientSecret is not set"],
    [authz({ endpoint }, { clientId: "c", clientSecret: "s" }), "lakekeeper:authz.tokenEndpoint is not set"],
    [
      authz({ endpoint, tokenEndpoint: "https://id/t" }, { apiKey, clientId: "c", clientSecret: "s" }),
      "lakekeeper:authzCredentials has an apiKey and a clientId",
    ],
    [authz({ endpoint, storeName: "x" }, { apiKey }), 'lakekeeper:authz.storeName is "x": it must be 3 to 64 letters'],
    [
      authz({ endpoint }, { apiKey: "12345" }),
      "lakekeeper:authzCredentials.apiKey is [secret]: it must not be a number",
    ],
    [authz({ endpoint }, { key: apiKey }), "lakekeeper:authzCredentials.key is not a setting; the fields of"],
    [
      { ...authz({ endpoint }, { apiKey }), "lakekeeper:auth": '{"mode":"none"}' },
      'lakekeeper:authz.mode is "openfga", but with lakekeeper:auth.mode none nobody says who he is',
    ],
    [
      {
        ...authz({ endpoint }, { apiKey }),
        "lakekeeper:auth": '{"previous":{"mode":"oidc","issuerUrl":"https://id","until":"2027-01-31"}}',
      },
      "leave lakekeeper:auth.previous out",
    ],
    [authz({ mode: "allow-all", endpoint }), 'lakekeeper:authz.mode is "allow-all", so that every valid token is'],
    [{ "lakekeeper:authzCredentials": JSON.stringify({ apiKey }) }, "Set lakekeeper:authz.mode to openfga"],
  ])("refuses %j", (settings, expected) => {
    const message = problemsOf(settings);
    expect(message).toContain(expected);
    expect(message).not.toContain(apiKey);
    expect(message).not.toContain("12345");
  });
});

test("a secret's value is never shown", () => {
  const message = problemsOf({ "lakekeeper:sqlCatalog": "mysql://writer:hunter2@host/db" });
  expect(message).toContain("lakekeeper:sqlCatalog is [secret]: it must be a SQLAlchemy URI");
  expect(message).not.toContain("hunter2");
});

test("Pulumi.yaml declares the same settings with the same defaults", () => {
  const declared = declaredSettings(readFileSync("Pulumi.yaml", "utf8"));
  const defaults = readConfig(local);
  expect(Object.keys(declared).sort()).toEqual(Object.keys(defaults).sort());
  for (const [name, text] of Object.entries(declared)) {
    if (text === undefined) continue;
    const read = readConfig({ ...local, [`lakekeeper:${name}`]: text }) as Record<string, unknown>;
    expect({ [name]: read[name] }).toEqual({ [name]: (defaults as Record<string, unknown>)[name] });
  }
});

/** Each setting of the `config:` block to its default as the engine hands it over, or to undefined. */
function declaredSettings(yaml: string): Record<string, string | undefined> {
  const block = yaml.slice(yaml.indexOf("\nconfig:"));
  return Object.fromEntries(
    block
      .split(/\n {2}(?=\w+:\n)/)
      .slice(1)
      .map((entry) => {
        const text = /\n {4}default: (.*)/.exec(entry)?.[1];
        return [entry.slice(0, entry.indexOf(":")), text && engineText(text)];
      }),
  );
}

function engineText(yaml: string): string {
  if (yaml.startsWith("[")) return JSON.stringify(yaml.slice(1, -1).split(", "));
  return yaml.replace(/^"(.*)"$/, "$1");
}
