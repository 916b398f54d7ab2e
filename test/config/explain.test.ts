// What `explain` shows of the settings: all of them, the source of each, and never a secret, whichever source it was written
// in.

import fc from "fast-check";
import { expect } from "vitest";
import { stringify } from "yaml";
import { loadConfig, settings } from "../../src/app/settings.ts";
import { checkConfig, type ExplainedKey, explainConfig, warnOfConfig } from "../../src/platform/config/explain.ts";
import type { Key } from "../../src/platform/config/keys.ts";
import { readServeConfig } from "../../src/platform/config/load.ts";
import type { ConfigSources } from "../../src/platform/config/resolve.ts";
import { makeTempConfig, test } from "./temp-config.ts";

const table = Object.values(settings.keys);
const secrets = table.filter((key) => key.secret === true);

test("every key is explained, in the order of the table, with its default and its variables", async () => {
  const { sources } = await makeTempConfig();
  const rows = explainConfig(sources);
  expect(rows.map(({ key, about, variables }) => ({ path: key, about, variables }))).toEqual(
    table.map(({ path, about, variables }) => ({ path, about, variables })),
  );
  for (const row of rows) {
    expect(row.value, row.key).toBe(row.default);
    expect(row.origin).toBe("default");
  }
  expect(new Set(table.map(({ path }) => path)).size).toBe(table.length);
});

test("values are shown as they would be set, secrets only as set or not, and invalid values as invalid", async () => {
  const { sources, write } = await makeTempConfig({
    RUNNEL_SERVER_CORS_ORIGINS: "https://a.example, https://b.example",
    RUNNEL_SERVER_H2_PORT: "0",
    RUNNEL_RUNS_SLOTS: "many",
    RUNNEL_AUTH_ADMIN_TOKEN: "short",
    RUNNEL_AUTH_API_KEYS: "ada=a-key-of-16-chars",
    RUNNEL_AUTH_HMAC_SECRET_FILE: "/nowhere/at/all",
  });
  const path = await write("config.yaml", "security: {allow_private_networks: true}\n");
  const shown = (key: string): Partial<ExplainedKey> | undefined => {
    const row = explainConfig(sources).find((each) => each.key === key);
    return row && { value: row.value, default: row.default, origin: row.origin, secret: row.secret };
  };
  expect(shown("server.cors_origins")).toEqual({
    value: "https://a.example,https://b.example",
    default: "",
    origin: "environment RUNNEL_SERVER_CORS_ORIGINS",
    secret: false,
  });
  expect(shown("server.h2_port")).toMatchObject({ value: "0", default: "" });
  expect(shown("security.allow_private_networks")).toMatchObject({ value: "true", origin: `file ${path}` });
  expect(shown("runs.slots")).toMatchObject({ value: "(not valid)", origin: "environment RUNNEL_RUNS_SLOTS" });
  expect(shown("auth.api_keys")).toMatchObject({ value: "(set)", default: "(unset)", secret: true });
  expect(shown("auth.admin_token")).toMatchObject({ value: "(not valid)", secret: true });
  expect(shown("auth.hmac_secret")).toMatchObject({
    value: "(not valid)",
    origin: "file of RUNNEL_AUTH_HMAC_SECRET_FILE",
  });
  expect(shown("database.url")).toMatchObject({ value: "(unset)", origin: "default" });
});

/** Long enough not to occur by chance. Contains the characters that YAML, URLs and lines of keys trip over. */
const secretValue = fc
  .tuple(fc.constantFrom("", "*", "&", "!", "@", "%", "{", "[", '"', "'", ": ", "# ", "\t", "-\n"), fc.uuid())
  .map(([start, rest]) => ({ text: `${start}${rest}`, core: rest }));

type Put = (text: string, key: Key<unknown>) => Promise<Partial<ConfigSources>>;

test("no secret from any source appears in any output", async ({ temp }) => {
  const inFile = async (text: string): Promise<Partial<ConfigSources>> => {
    await temp.write("config.yaml", text, 0o644);
    return {};
  };
  const puts: readonly Put[] = [
    async (text, key) => ({ environment: { [key.variables[0]]: text } }),
    async (text, key) => ({ environment: { [`${key.variables[0]}S`]: text } }),
    async (text, key) => {
      await temp.write("secret", text);
      return { environment: { [`${key.variables[0]}_FILE`]: "secret" } };
    },
    async (text, key) => ({ settings: [`${key.path}=${text}`, `${key.path}s=${text}`, text] }),
    async (text, key) => inFile(nest(key, (name) => stringify({ [name]: text }))),
    async (text, key) => inFile(nest(key, (name) => stringify({ [name]: { a: text } }))),
    async (text, key) => inFile(nest(key, (name) => stringify({ [name]: [text, text] }))),
    async (text, key) => inFile(nest(key, (name) => `${name}: ${text}\n`)),
    async (text, key) => inFile(nest(key, (name) => `${name}s: ${text}\n`)),
    async (text, key) => inFile(nest(key, (name) => `${name}: ${text}\n${name}: ${text}\n`)),
    async (text, key) => inFile(`${key.path.split(".")[0]}: ${text}\n`),
    async (text) => inFile(text),
  ];
  const property = fc.asyncProperty(
    fc.constantFrom(...secrets),
    fc.constantFrom(...puts),
    secretValue,
    async (key, put, { text, core }) => {
      await inFile("");
      const sources = { ...temp.sources, ...(await put(text, key)) };
      const told = [explainConfig(sources), checkConfig(sources), warnOfConfig(sources), refusal(sources)];
      expect(JSON.stringify(told)).not.toContain(core);
    },
  );
  await fc.assert(property, { numRuns: 600 });
});

test("without files loadConfig reads the environment alone", async () => {
  expect(loadConfig({ RUNNEL_SERVER_PORT: "1" }).serverPort).toBe(1);
});

/** Returns `section:` with its keys below it. */
function nest(key: Key<unknown>, print: (name: string) => string): string {
  const [section = "", name = ""] = key.path.split(".");
  const lines = print(name).trimEnd().split("\n");
  return `${section}:\n${lines.map((line) => `  ${line}`).join("\n")}\n`;
}

/** Returns everything about the failure, not only its message. */
function refusal(sources: ConfigSources): unknown {
  try {
    readServeConfig(sources);
    return undefined;
  } catch (error) {
    return [String(error), error instanceof Error ? [error.message, { ...error }] : error];
  }
}
