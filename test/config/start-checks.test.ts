// What keeps `serve` from starting, in the exact words of the Agent Runner document where it has some.

import { join } from "node:path";
import { expect, test } from "vitest";
import { providerNames } from "../../src/agent/models/providers.ts";
import { checkConfig } from "../../src/platform/config/explain.ts";
import { type Config, keys } from "../../src/platform/config/keys.ts";
import { readConfig, readServeConfig } from "../../src/platform/config/load.ts";
import { readTlsFiles } from "../../src/platform/config/tls-files.ts";
import { startService } from "../harness/service.ts";
import { makeTempConfig, serveRefusal } from "./temp-config.ts";

const startable = { AGENT_RUNNER_AUTH_HMAC_SECRET: "a", AGENT_RUNNER_PROVIDERS_OPENAI_KEY: "b" };

test.each([
  ["SERVER_PORT", "0", "server.port must be between 1 and 65535, got 0"],
  ["SERVER_PORT", "65536", "server.port must be between 1 and 65535, got 65536"],
  ["SERVER_PORT", "-1", "server.port must be between 1 and 65535, got -1"],
  ["SERVER_PORT", "99999999999999999999", "server.port must be between 1 and 65535, got 99999999999999999999"],
  ["DEFAULTS_TIMEOUT_SECS", "0", "defaults.timeout_secs must be positive, got 0"],
  ["DEFAULTS_TIMEOUT_SECS", "-5", "defaults.timeout_secs must be positive, got -5"],
  ["SESSIONS_TTL_MINUTES", "0", "sessions.ttl_minutes must be positive, got 0"],
  ["SESSIONS_MAX_CONCURRENT", "-1", "sessions.max_concurrent must not be negative, got -1"],
  ["CALLBACK_TIMEOUT_SEC", "-1", "callback.timeout_sec must not be negative, got -1"],
  ["SERVER_READ_HEADER_TIMEOUT_SEC", "-1", "server.read_header_timeout_sec must not be negative, got -1"],
  ["SERVER_READ_TIMEOUT_SEC", "-1", "server.read_timeout_sec must not be negative, got -1"],
  ["SERVER_WRITE_TIMEOUT_SEC", "-1", "server.write_timeout_sec must not be negative, got -1"],
  ["SERVER_IDLE_TIMEOUT_SEC", "-1", "server.idle_timeout_sec must not be negative, got -1"],
  ["TLS_CERT_FILE", "/nowhere", "tls: both cert_file and key_file must be set, or neither"],
  ["TLS_KEY_FILE", "/nowhere", "tls: both cert_file and key_file must be set, or neither"],
])("%s of %s", async (variable, value, words) => {
  const { sources } = await makeTempConfig({ ...startable, [`AGENT_RUNNER_${variable}`]: value });
  expect(serveRefusal(sources)).toBe(`Invalid config: ${words}`);
  expect(checkConfig(sources)).toEqual([words]);
});

test.each([
  [{}, "auth.hmac_secret, at least one provider key/url"],
  [{ AGENT_RUNNER_PROVIDERS_OPENAI_KEY: "b" }, "auth.hmac_secret"],
  [{ AGENT_RUNNER_AUTH_HMAC_SECRET: "a" }, "at least one provider key/url"],
  [{ AGENT_RUNNER_AUTH_HMAC_SECRET: "a", RUNNEL_DEFAULTS_MODEL: "gpt-4o" }, "at least one provider key/url"],
])("of %j is missing: %s", async (environment: Record<string, string>, missing) => {
  const { sources } = await makeTempConfig(environment);
  const [first, ...hint] = serveRefusal(sources).split("\n");
  expect(first).toBe(`Invalid config: missing required config: ${missing}`);
  expect(hint.join(" ")).toMatch(/ set RUNNEL_.*`runnel dev` needs none of it\.$/);
  expect(checkConfig(sources)).toEqual([`missing required config: ${missing}`]);
  expect(readConfig(sources).serverPort).toBe(8090);
});

test("a missing model gives the setting that configures each provider", async () => {
  const { sources } = await makeTempConfig({ AGENT_RUNNER_AUTH_HMAC_SECRET: "a" });
  const hint = serveRefusal(sources).split("\n")[1];
  expect(hint).toMatch(
    /^Runs need a model: set RUNNEL_PROVIDERS_OPENAI_KEY, (…_\w+, )*…_\w+ or …_COMPATIBLE_BASE_URL, or /,
  );
  expect(hint).toMatch(/, or RUNNEL_DEFAULTS_MODEL=demo\.$/);
  const settings = hint?.match(/_[A-Z]+(?=_(KEY|BASE_URL)\b)/g);
  expect(settings).toEqual(providerNames.map((name) => `_${name.toUpperCase()}`));
});

test.each([
  { RUNNEL_AUTH_API_KEYS: "ada=a-key-of-16-chars" },
  { RUNNEL_AUTH_ADMIN_TOKEN: "a-token-of-16-chars" },
  { RUNNEL_AUTH_HMAC_SECRET: "a" },
])("%j is enough to authenticate callers", async (environment: Record<string, string>) => {
  const { sources } = await makeTempConfig({ RUNNEL_PROVIDERS_OPENAI_KEY: "b", ...environment });
  expect(readServeConfig(sources)).toMatchObject({ openaiKey: "b" });
});

test.each([
  { RUNNEL_PROVIDERS_OPENAI_KEY: "a" },
  { RUNNEL_PROVIDERS_GEMINI_KEY: "a" },
  { RUNNEL_PROVIDERS_ANTHROPIC_KEY: "a" },
  { RUNNEL_PROVIDERS_OPENAI_BASE_URL: "http://127.0.0.1:1/v1" },
  { RUNNEL_PROVIDERS_GEMINI_BASE_URL: "http://127.0.0.1:1" },
  { RUNNEL_PROVIDERS_ANTHROPIC_BASE_URL: "http://127.0.0.1:1" },
  { RUNNEL_PROVIDERS_COMPATIBLE_BASE_URL: "http://127.0.0.1:1" },
  { RUNNEL_DEFAULTS_MODEL: "demo" },
])("%j is enough as a model", async (environment: Record<string, string>) => {
  const { sources } = await makeTempConfig({ RUNNEL_AUTH_HMAC_SECRET: "a", ...environment });
  expect(readServeConfig(sources)).toMatchObject({ authHmacSecret: "a" });
});

test.each([['helper={"model": }'], ['helper=["gpt-4o"]'], ['{"model": "gpt-4o"}']])(
  "the preset %s is refused by its setting",
  async (presets) => {
    const { sources } = await makeTempConfig({ ...startable, RUNNEL_AGENTS_PRESETS: presets });
    const words = expect.stringMatching(
      /^RUNNEL_AGENTS_PRESETS is ".*": expected lines such as helper=\{"model": "gpt-4o"\}: /,
    );
    expect(checkConfig(sources)).toEqual([words]);
    expect(serveRefusal(sources)).toContain(checkConfig(sources)[0]);
  },
);

test("a preset that is JSON but no agent is refused by its setting at the start", async () => {
  await expect(startService({ agentPresets: ['helper={"modle": "gpt-4o"}'] })).rejects.toMatchObject({
    reason: "CONFIG_INVALID",
    message: expect.stringMatching(/agents\.presets: helper is no agent: .*modle/),
  });
});

test("the default base URL does not count as a provider, and a key without a server is reported", async () => {
  const environment = {
    RUNNEL_AUTH_HMAC_SECRET: "a",
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: keys.openaiBaseUrl.fallback,
    RUNNEL_PROVIDERS_COMPATIBLE_KEY: "b",
    RUNNEL_PROVIDERS_RERANK_KEY: "c",
  };
  const { sources } = await makeTempConfig(environment);
  expect(checkConfig(sources)).toEqual([
    "missing required config: at least one provider key/url",
    "providers.compatible_key is set but providers.compatible_base_url is not: set both",
    "providers.rerank_key is set but providers.rerank_base_url is not: set both",
  ]);
});

test("all problems are reported at once, missing settings first, under one prefix", async () => {
  const { sources } = await makeTempConfig({ RUNNEL_SERVER_PORT: "0", RUNNEL_TLS_CERT_FILE: "/nowhere" });
  const [first] = serveRefusal(sources).split("\n");
  expect(first).toBe(
    "Invalid config: missing required config: auth.hmac_secret, at least one provider key/url; " +
      "tls: both cert_file and key_file must be set, or neither; server.port must be between 1 and 65535, got 0",
  );
});

test("a refused URL is shown without its password", async () => {
  const withPassword = "https://ada:a-password-in-a-url@models.example/v1";
  const { sources } = await makeTempConfig({
    ...startable,
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: withPassword,
    RUNNEL_SERVER_CORS_ORIGINS: "https://ada:a-password-in-a-url@app.example",
  });
  const problems = checkConfig(sources).join("\n");
  expect(problems).toContain('RUNNEL_PROVIDERS_OPENAI_BASE_URL is "https://[redacted]@models.example/v1"');
  expect(problems).toContain('RUNNEL_SERVER_CORS_ORIGINS is "https://[redacted]@app.example"');
  expect(problems).not.toContain("a-password");
});

test("a setting that is invalid, or may be in an unreadable file, is not reported as missing", async () => {
  const wrong = await makeTempConfig({ RUNNEL_AUTH_API_KEYS: "ada", RUNNEL_PROVIDERS_OPENAI_KEY: "a b" });
  expect(serveRefusal(wrong.sources)).not.toContain("missing");
  const badUrl = { RUNNEL_PROVIDERS_COMPATIBLE_KEY: "b", RUNNEL_PROVIDERS_COMPATIBLE_BASE_URL: "c" };
  expect(checkConfig((await makeTempConfig({ ...startable, ...badUrl })).sources)).toEqual([
    expect.stringMatching(/^RUNNEL_PROVIDERS_COMPATIBLE_BASE_URL is "c": expected an http or https URL/),
  ]);
  const unreadable = await makeTempConfig();
  await unreadable.write("config.yaml", "auth:\n\thmac_secret: a\n");
  expect(serveRefusal(unreadable.sources)).not.toContain("missing");
  const misspelled = await makeTempConfig();
  await misspelled.write("config.yaml", "auth: {hmac_secert: a}\n");
  const told = serveRefusal(misspelled.sources);
  expect(told).toContain("missing required config: auth.hmac_secret");
  expect(told).toContain("did you mean auth.hmac_secret?");
});

test("all unreadable certificates are reported, by the check and by their reader", async () => {
  const { sources, write } = await makeTempConfig();
  const [cert, key, ca] = ["cert.pem", "key.pem", "ca.pem"].map((name) => join(sources.directory, name)) as [
    string,
    string,
    string,
  ];
  const environment = {
    ...startable,
    RUNNEL_TLS_CERT_FILE: cert,
    RUNNEL_TLS_KEY_FILE: key,
    RUNNEL_TLS_CLIENT_CA_FILE: ca,
  };
  const problems = checkConfig({ ...sources, environment });
  expect(problems).toEqual([
    expect.stringMatching(/^tls cert_file not readable: ENOENT/),
    expect.stringMatching(/^tls key_file not readable: ENOENT/),
    expect.stringMatching(/^tls client_ca_file not readable: ENOENT/),
  ]);
  const config = readConfig({ ...sources, environment });
  expect(() => readTlsFiles(config)).toThrow(`Invalid config: ${problems.join("; ")}`);
  await Promise.all(["cert.pem", "key.pem", "ca.pem"].map((name) => write(name, name)));
  expect(checkConfig({ ...sources, environment })).toEqual([]);
  expect(readTlsFiles(config)).toEqual({ cert: "cert.pem", key: "key.pem", clientCa: "ca.pem" });
  const alone = { ...startable, RUNNEL_TLS_CLIENT_CA_FILE: ca };
  expect(checkConfig({ ...sources, environment: alone })).toEqual([
    "tls: client_ca_file needs cert_file and key_file: set them too",
  ]);
  expect(readTlsFiles({ ...config, tlsCertFile: "", tlsKeyFile: "", tlsClientCaFile: "" } as Config)).toBeUndefined();
});
