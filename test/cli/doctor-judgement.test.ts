// What `doctor` says about facts that no test can cause: clocks that differ, servers that risk data or are too old, full disks,
// certificates that expire. Where a real database or file can provide the fact, it does.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { settings } from "../../src/app/settings.ts";
import {
  judgeClock,
  judgeConnections,
  judgeDurability,
  judgeLease,
  judgeReplication,
  judgeServer,
} from "../../src/cli/doctor/database.ts";
import { examine } from "../../src/cli/doctor/examine.ts";
import { judgeDisk } from "../../src/cli/doctor/machine.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { resolveSettings } from "../../src/platform/config/resolve.ts";
import type { ServerFacts } from "../../src/platform/database/probe.ts";
import { makeCertificates } from "../harness/certificates.ts";
import { limitedUser, testDatabase } from "../harness/database.ts";
import { ownFolder } from "./command.ts";

const mebibyte = 1_048_576;
const dayMs = 86_400_000;
const sound: ServerFacts = {
  version: "18.4",
  versionNumber: 180_004,
  encoding: "UTF8",
  fsync: "on",
  fullPageWrites: "on",
  synchronousCommit: "on",
  isStandby: false,
  connectionsMax: 97,
  foreignConnections: 0,
};

/** Examines a machine whose clock is ahead by this much. */
async function examineAhead(byMs: number, environment: Record<string, string>) {
  const resolution = resolveSettings({
    table: settings,
    environment,
    directory: ".",
    home: "",
    file: false,
    flags: { serverPort: 0 },
  });
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + byMs };
  const findings = await examine({ config: resolution.config, resolution, table: settings, clock, deep: false });
  return (name: string) => findings.find((finding) => finding.name === name);
}

test.each([
  [0, "ok", "within 2.0 s"],
  [10_000, "warn", "10.0 s behind this machine's"],
  [-10_000, "warn", "10.0 s ahead of this machine's"],
  [90_000, "fail", "90.0 s behind"],
] as const)("a clock that is %d ms ahead of a real database's is %s", async (aheadMs, outcome, told) => {
  const find = await examineAhead(aheadMs, { DATABASE_URL: await testDatabase() });
  expect(find("clock")).toMatchObject({ outcome, found: expect.stringContaining(told) });
});

test("a clock is not blamed within the error of the measurement", () => {
  expect(judgeClock({ skewMs: 2_500, skewErrorMs: 400 }).outcome).toBe("warn");
  expect(judgeClock({ skewMs: 2_500, skewErrorMs: 600 }).outcome).toBe("ok");
  expect(judgeClock({ skewMs: -61_000, skewErrorMs: 500 }).outcome).toBe("fail");
});

test("certificates are reported 14 days before they expire, and after they have expired", async () => {
  const folder = await ownFolder();
  const { ca, server } = await makeCertificates();
  const names = { cert: server.cert, key: server.key, ca };
  await Promise.all(Object.entries(names).map(([name, text]) => writeFile(join(folder, name), text)));
  const environment = {
    DATABASE_URL: "postgres://127.0.0.1:1/none",
    RUNNEL_TLS_CERT_FILE: join(folder, "cert"),
    RUNNEL_TLS_KEY_FILE: join(folder, "key"),
    RUNNEL_TLS_CLIENT_CA_FILE: join(folder, "ca"),
  };
  // The certificates are valid for a year.
  for (const [days, outcome] of [
    [350, "ok"],
    [352, "warn"],
    [366, "fail"],
  ] as const) {
    const find = await examineAhead(days * dayMs, environment);
    expect({ days, tls: find("tls")?.outcome, ca: find("tls-client-ca")?.outcome }).toEqual({
      days,
      tls: outcome,
      ca: outcome,
    });
  }
  expect((await examineAhead(-dayMs, environment))("tls")).toMatchObject({
    outcome: "fail",
    fix: expect.stringContaining("clock"),
  });
});

test.each(["fsync", "fullPageWrites", "synchronousCommit"] as const)(
  "%s off is a risk for acknowledged results",
  (name) => {
    expect(judgeDurability(sound).outcome).toBe("ok");
    expect(judgeDurability({ ...sound, [name]: "off" })).toMatchObject({
      outcome: "fail",
      fix: expect.stringMatching(/^switch on (fsync|full_page_writes|synchronous_commit) /),
    });
  },
);

test.each([
  [{ standbys: 0, isSynchronous: false }, "ok", "no standby is connected"],
  [{ standbys: 0, isSynchronous: true }, "ok", "no standby is connected"],
  [{ standbys: 2, isSynchronous: true }, "ok", "2 standbys, synchronous"],
  [{ standbys: 1, isSynchronous: false }, "warn", "1 standby, asynchronous"],
] as const)("standbys %j are judged %s", (replication, outcome, found) => {
  expect(judgeReplication(replication)).toMatchObject({ outcome, found });
});

test.each([
  [{ databaseFailoverSeconds: 30, runsLeaseMs: 10_000 }, "ok"],
  [{ databaseFailoverSeconds: 30, runsLeaseMs: 9_999 }, "warn"],
] as const)("a lease for the failover %j is judged %s", (settings, outcome) => {
  expect(judgeLease(settings)).toMatchObject({ outcome });
});

test("a server that is too old or read-only fails", () => {
  expect(judgeServer(sound, "it").outcome).toBe("ok");
  expect(judgeServer({ ...sound, versionNumber: 150_000 }, "it").outcome).toBe("ok");
  expect(judgeServer({ ...sound, versionNumber: 140_012 }, "it").outcome).toBe("fail");
  expect(judgeServer({ ...sound, isStandby: true }, "it")).toMatchObject({
    outcome: "fail",
    found: expect.stringContaining("standby"),
  });
});

test.each([
  ["UTF8", "ok"],
  ["SQL_ASCII", "ok"],
  ["LATIN1", "fail"],
] as const)("a database with the encoding %s is judged %s", (encoding, outcome) => {
  expect(judgeServer({ ...sound, encoding }, "it").outcome).toBe(outcome);
});

test("the limit of a role counts where it is lower than that of the server", async () => {
  const { url } = await limitedUser(await testDatabase(), 9);
  const find = await examineAhead(0, { DATABASE_URL: url });
  expect(find("connections")).toMatchObject({ outcome: "fail", found: expect.stringMatching(/^9 for users, 0 taken/) });
});

test("connections of other programs reduce the available ones", () => {
  expect(judgeConnections(sound, 16)).toMatchObject({ outcome: "ok", found: expect.stringContaining("room for 6") });
  expect(judgeConnections({ ...sound, foreignConnections: 81 }, 16).outcome).toBe("ok");
  expect(judgeConnections({ ...sound, foreignConnections: 82 }, 16).outcome).toBe("fail");
});

test("a disk is reported before it is full", () => {
  expect(judgeDisk("disk", 2_048 * mebibyte, "/").outcome).toBe("ok");
  expect(judgeDisk("disk", 2_047 * mebibyte, "/").outcome).toBe("warn");
  expect(judgeDisk("disk", 255 * mebibyte, "/").outcome).toBe("fail");
});
