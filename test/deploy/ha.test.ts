// The settings beside deploy/ha: known ones, and a lease that outlives a failover of Patroni.

import { parseEnv } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { shortestLeaseMs } from "../../src/platform/database/replication.ts";
import { readText, unknownVariables } from "./deployed.ts";

test("the settings are known, and runs continue after a failover", () => {
  const settings = parseEnv(readText("deploy/ha/runnel.env"));
  expect(unknownVariables(Object.keys(settings))).toEqual([]);
  const { ttl } = parse(readText("deploy/ha/patroni.yml")).bootstrap.dcs;
  expect(Number(settings.RUNNEL_DATABASE_FAILOVER_SECONDS)).toBeGreaterThan(ttl);
  expect(Number(settings.RUNNEL_RUNS_LEASE_MS)).toBeGreaterThanOrEqual(
    shortestLeaseMs(Number(settings.RUNNEL_DATABASE_FAILOVER_SECONDS)),
  );
});
