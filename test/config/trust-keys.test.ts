// The trust settings: the names that the signing contract's own service uses, and the refusals at the start.

import { expect, test } from "vitest";
import { loadConfig } from "../../src/app/settings.ts";
import { checkConfig, explainConfig } from "../../src/platform/config/explain.ts";
import { makeTempConfig } from "./temp-config.ts";

test("each setting also has the name from the signing contract's own service", () => {
  const environment = {
    TRUST_ENFORCE: "false",
    TRUSTED_KEYS_JSON: "[]",
    TRUSTED_KEYS_FILE: "/keys.json",
    TRUSTED_KEYS_RELOAD_SECONDS: "30",
  };
  const trust = { trustEnforce: false, trustKeysJson: "[]", trustKeysFile: "/keys.json", trustReloadSeconds: 30 };
  expect(loadConfig(environment)).toMatchObject(trust);
  const ours = Object.fromEntries(Object.keys(environment).map((name) => [name, "1"]));
  expect(loadConfig({ ...ours, RUNNEL_TRUST_ENFORCE: "false", RUNNEL_TRUST_KEYS_FILE: "/keys.json" })).toMatchObject({
    trustEnforce: false,
    trustKeysFile: "/keys.json",
  });
});

test("trust is enforced by default, and the regions are those of the contract", () => {
  expect(loadConfig({})).toMatchObject({
    trustEnforce: true,
    trustReloadSeconds: 0,
    trustVerifyIntervalSec: 10,
    trustAcceptDroppedEmptyStrings: false,
    jobsRegions: ["US", "EU", "APAC", "CA", "SA", "AF", "ME", "ASIA"],
    jobsServedRegions: [],
  });
  expect(loadConfig({ RUNNEL_JOBS_REGIONS: "eu-1, eu-2" }).jobsRegions).toEqual(["eu-1", "eu-2"]);
});

test("a served region that no JobSpec may name is reported before the start", async () => {
  const startable = { RUNNEL_AUTH_HMAC_SECRET: "a", RUNNEL_DEFAULTS_MODEL: "demo" };
  const { sources } = await makeTempConfig({ ...startable, RUNNEL_JOBS_SERVED_REGIONS: "EU,MARS" });
  expect(checkConfig(sources)).toEqual(['jobs.served_regions has "MARS", which jobs.regions has not: add it']);
  const { sources: wrong } = await makeTempConfig({ ...startable, RUNNEL_JOBS_SERVED_REGIONS: "EU,the moon" });
  expect(checkConfig(wrong)).toEqual([
    'RUNNEL_JOBS_SERVED_REGIONS is "EU,the moon": expected names of regions such as EU, separated by commas',
  ]);
  const shown = explainConfig(sources).find(({ key }) => key === "jobs.regions");
  expect(shown?.default).toBe("US,EU,APAC,CA,SA,AF,ME,ASIA");
});
