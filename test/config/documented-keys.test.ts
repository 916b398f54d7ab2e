// Every key of the Agent Runner document's configuration, copied from it. YAML, the document's variable and our variable each
// set it, and without any of them it has the document's default.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/app/settings.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { readYamlConfig } from "./temp-config.ts";

type Documented = readonly [key: string, variable: string, name: keyof Config, fallback: unknown, other: unknown];

const documented: readonly Documented[] = [
  ["server.host", "SERVER_HOST", "serverHost", "0.0.0.0", "127.0.0.2"],
  ["server.port", "SERVER_PORT", "serverPort", 8090, 8091],
  ["server.max_body_bytes", "SERVER_MAX_BODY_BYTES", "serverMaxBodyBytes", 10485760, 2048],
  ["server.read_header_timeout_sec", "SERVER_READ_HEADER_TIMEOUT_SEC", "serverReadHeaderTimeoutSec", 5, 0],
  ["server.read_timeout_sec", "SERVER_READ_TIMEOUT_SEC", "serverReadTimeoutSec", 30, 0],
  ["server.write_timeout_sec", "SERVER_WRITE_TIMEOUT_SEC", "serverWriteTimeoutSec", 65, 0],
  ["server.idle_timeout_sec", "SERVER_IDLE_TIMEOUT_SEC", "serverIdleTimeoutSec", 120, 0],
  ["server.tls.cert_file", "TLS_CERT_FILE", "tlsCertFile", "", "/etc/ssl/cert.pem"],
  ["server.tls.key_file", "TLS_KEY_FILE", "tlsKeyFile", "", "/etc/ssl/key.pem"],
  ["auth.hmac_secret", "AUTH_HMAC_SECRET", "authHmacSecret", "", "my-secret"],
  ["providers.openai_key", "PROVIDERS_OPENAI_KEY", "openaiKey", "", "sk-1"],
  ["providers.gemini_key", "PROVIDERS_GEMINI_KEY", "geminiKey", "", "AI1"],
  ["providers.anthropic_key", "PROVIDERS_ANTHROPIC_KEY", "anthropicKey", "", "sk-ant-1"],
  // The document's default is gpt-4o-mini, which an empty model means as soon as there is a provider.
  ["defaults.model", "DEFAULTS_MODEL", "defaultModel", "", "gpt-4o"],
  ["defaults.max_turns", "DEFAULTS_MAX_TURNS", "defaultMaxTurns", 30, 7],
  ["defaults.max_tokens", "DEFAULTS_MAX_TOKENS", "defaultMaxTokens", 4096, 0],
  ["defaults.timeout_secs", "DEFAULTS_TIMEOUT_SECS", "defaultTimeoutSecs", 300, 1],
  ["sessions.max_concurrent", "SESSIONS_MAX_CONCURRENT", "sessionsMaxConcurrent", 50, 0],
  ["sessions.ttl_minutes", "SESSIONS_TTL_MINUTES", "sessionsTtlMinutes", 30, 1],
  // The guard of the document's own service refuses the document's default.
  ["callback.base_url", "CALLBACK_BASE_URL", "callbackBaseUrl", "", "http://app:8000/api/agent-runner"],
  ["callback.timeout_sec", "CALLBACK_TIMEOUT_SEC", "callbackTimeoutSec", 30, 0],
  ["rate_limit.requests_per_second", "RATELIMIT_RPS", "rateLimitRps", 20, 3],
  ["rate_limit.burst", "RATELIMIT_BURST", "rateLimitBurst", 40, 4],
  ["circuit_breaker.max_failures", "CB_MAX_FAILURES", "circuitMaxFailures", 5, 6],
  ["circuit_breaker.reset_timeout_sec", "CB_RESET_TIMEOUT_SEC", "circuitResetTimeoutSec", 30, 31],
  ["security.allow_private_networks", "SECURITY_ALLOW_PRIVATE_NETWORKS", "securityAllowPrivateNetworks", false, true],
];

test.each(documented)(
  "the document's key %s works by both of its names and in YAML, and has its default",
  async (key, variable, name, fallback, other) => {
    expect(loadConfig({})[name]).toBe(fallback);
    expect(loadConfig({ [`AGENT_RUNNER_${variable}`]: String(other) })[name]).toBe(other);
    expect(loadConfig({ [`RUNNEL_${variable}`]: String(other) })[name]).toBe(other);
    expect((await readYamlConfig(nest(key, JSON.stringify(other))))[name]).toBe(other);
    expect((await readYamlConfig(nest(key, `"${other}"`)))[name], "between quotes").toBe(other);
    expect((await readYamlConfig(nest(key, String(other))))[name], "as it is").toBe(other);
    expect((await readYamlConfig(nest(key, '""')))[name], "empty").toBe(fallback);
  },
);

test("the document's whole file is accepted", async () => {
  const config = await readYamlConfig(`
server:
  host: "0.0.0.0"              # Listen address
  port: 8090                    # Listen port (1–65535)
  max_body_bytes: 10485760
  read_header_timeout_sec: 5
  read_timeout_sec: 30
  write_timeout_sec: 65
  idle_timeout_sec: 120
  tls:
    cert_file: ""
    key_file: ""

auth:
  hmac_secret: ""

providers:
  openai_key: ""
  gemini_key: ""
  anthropic_key: ""

defaults:
  model: "gpt-4o-mini"
  max_turns: 30
  max_tokens: 4096
  timeout_secs: 300

sessions:
  max_concurrent: 50
  ttl_minutes: 30

callback:
  base_url: "http://localhost:8000/api/agent-runner"
  timeout_sec: 30

rate_limit:
  requests_per_second: 20
  burst: 40

circuit_breaker:
  max_failures: 5
  reset_timeout_sec: 30
`);
  const own = { defaultModel: "gpt-4o-mini", callbackBaseUrl: "http://localhost:8000/api/agent-runner" };
  expect(config).toEqual({ ...loadConfig({}), ...own });
});

test("the page of settings has every variable of the document, and the example every key, with its default", async () => {
  const page = await readFile(new URL("../../docs/reference/settings.md", import.meta.url), "utf8");
  const example = await readFile(new URL("../../docs/config.example.yaml", import.meta.url), "utf8");
  for (const [key, variable] of documented) {
    expect(page).toContain(`| \`${key}\``);
    expect(page).toContain(`\`AGENT_RUNNER_${variable}\``);
  }
  const uncommented = example.replaceAll(/^( +)# (\w+: )/gm, "$1$2");
  expect(uncommented.match(/^ +\w+: \S/gm)?.length).toBeGreaterThan(documented.length);
  expect(await readYamlConfig(example)).toEqual(loadConfig({}));
  expect(await readYamlConfig(uncommented)).toEqual(loadConfig({}));
});

/** Returns `a.b.c` as YAML, one level a line. */
function nest(key: string, value: string): string {
  const words = key.split(".");
  const lines = words.map((word, level) => `${"  ".repeat(level)}${word}:`);
  return `${lines.join("\n")} ${value}\n`;
}
