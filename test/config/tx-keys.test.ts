// The transaction settings: off by default, refused when incomplete, and hidden where they are secret.

import { expect } from "vitest";
import { loadConfig, settings } from "../../src/app/settings.ts";
import { checkConfig, explainConfig } from "../../src/platform/config/explain.ts";
import { readConfig } from "../../src/platform/config/load.ts";
import { secretsOf } from "../../src/platform/config/secrets.ts";
import { makeTempConfig, readYamlConfig, refusalOf, test } from "./temp-config.ts";

const startable = { RUNNEL_AUTH_HMAC_SECRET: "a", RUNNEL_DEFAULTS_MODEL: "demo" };
const url = "https://node.example/v2/canary-of-the-node";
const privateKey = `0x${"ca7a".repeat(16)}`;
const contract = `0x${"aB".repeat(20)}`;

test("nothing is called, allowed or paid by default", () => {
  expect(loadConfig({})).toMatchObject({
    txEnabled: false,
    txRpcUrl: "",
    txChainId: undefined,
    txPrivateKey: "",
    txAllow: [],
    txValueMaxWei: "0",
    txDryRun: false,
  });
});

test("a YAML file may have them as lists or as one text", async () => {
  const tx = (allow: string) =>
    `decisions:\n  tx:\n    chain_id: 1\n    private_key: ${privateKey}\n    allow: ${allow}\n    value_max_wei: 10000000000000000000000`;
  for (const allow of [`["${contract}:pay", "${contract}:$_1"]`, `"${contract}:pay, ${contract}:$_1"`]) {
    expect(await readYamlConfig(tx(allow))).toMatchObject({
      txChainId: 1,
      txPrivateKey: privateKey,
      txAllow: [`${contract}:pay`, `${contract}:$_1`],
      txValueMaxWei: "10000000000000000000000",
    });
  }
});

test("key and URL of the node may come from files, and are never shown", async ({ temp: { sources, write } }) => {
  const environment = {
    RUNNEL_DECISIONS_TX_RPC_URL_FILE: await write("url", `${url}\n`),
    RUNNEL_DECISIONS_TX_PRIVATE_KEY_FILE: await write("key", `${privateKey}\n`),
  };
  const config = readConfig({ ...sources, environment });
  expect(config).toMatchObject({ txRpcUrl: url, txPrivateKey: privateKey });
  expect(secretsOf(settings.keys, config)).toEqual(expect.arrayContaining([url, privateKey]));
  expect(JSON.stringify(explainConfig({ ...sources, environment }))).not.toMatch(/canary|ca7a/);
});

test.each([
  ["RPC_URL", ["canary", "ftp://canary", "wss://canary", `https://${"canary".repeat(400)}`]],
  ["PRIVATE_KEY", ["canary", privateKey.slice(1), `${privateKey}00`, privateKey.slice(0, -1)]],
  ["CHAIN_ID", ["0", "-1", "sepolia", "1e3"]],
  ["ALLOW", [contract, `${contract}:`, `${contract}:*`, "pay", `${contract.slice(0, -1)}:pay`, `${contract}:pay()`]],
  ["VALUE_MAX_WEI", ["-1", "1.5", "1e18", "1 ether", "0x10"]],
  ["GAS_MAX", ["0", "1e9"]],
])("an invalid %s is refused, and the message has no secret", async (name, values) => {
  for (const value of values) {
    const { sources } = await makeTempConfig({ [`RUNNEL_DECISIONS_TX_${name}`]: value });
    const words = refusalOf(sources);
    expect(words).toContain(`RUNNEL_DECISIONS_TX_${name}`);
    expect(words).not.toMatch(/canary|ca7a/);
  }
});

test("settings that transactions require are reported as missing before the start", async () => {
  const on = { ...startable, RUNNEL_DECISIONS_TX_ENABLED: "true" };
  const { sources } = await makeTempConfig({ ...on, RUNNEL_DECISIONS_TX_CHAIN_ID: "1" });
  expect(checkConfig(sources)).toEqual([
    "decisions.tx.enabled needs decisions.tx.rpc_url: set it too",
    "decisions.tx.enabled needs decisions.tx.private_key: set it too",
  ]);
  const whole = { RUNNEL_DECISIONS_TX_RPC_URL: url, RUNNEL_DECISIONS_TX_PRIVATE_KEY: privateKey };
  expect(checkConfig((await makeTempConfig({ ...on, ...whole, RUNNEL_DECISIONS_TX_CHAIN_ID: "1" })).sources)).toEqual(
    [],
  );
  expect(checkConfig((await makeTempConfig(startable)).sources)).toEqual([]);
});
