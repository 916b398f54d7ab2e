// The page for operators names only what exists: every event and every metric on it exists, and every event that is a warning
// is on it.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { protocolEvents } from "../../src/app/protocols.ts";
import { settings } from "../../src/app/settings.ts";
import { coreEvents, type EventRow } from "../../src/platform/telemetry/events.ts";
import { createMetrics } from "../../src/platform/telemetry/metrics.ts";
import { createManualClock } from "../harness/manual-clock.ts";

const page = await readFile(new URL("../../docs/operations/README.md", import.meta.url), "utf8");
const rows = Object.values<EventRow<unknown>>({ ...coreEvents, ...protocolEvents });

test("every event that the page names is in the catalogue", () => {
  const names = new Set<string>(rows.map(({ name }) => name));
  const named = [...page.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map(([, name = ""]) => name);
  const families = new Set(rows.map(({ name }) => name.split(".")[0]));
  const paths = new Set(Object.values(settings.keys).map(({ path }) => path));
  const events = named.filter((name) => families.has(name.split(".")[0] ?? "") && !paths.has(name));
  expect(events.length).toBeGreaterThan(10);
  expect(events.filter((name) => !names.has(name))).toEqual([]);
});

test("every event that is a warning or an error is on the page", () => {
  const loud = rows.filter(({ level }) => level === "warn" || level === "error").map(({ name }) => name);
  expect(loud.length).toBeGreaterThan(8);
  expect(loud.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test("every metric that the page names exists", async () => {
  const metrics = createMetrics({ version: "x", commit: "x", toolNames: [], clock: createManualClock() });
  const printed = await metrics.print();
  const named = [...new Set([...page.matchAll(/runnel_[a-z0-9_]+/g)].map(([name]) => name))];
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !printed.includes(`# TYPE ${name} `))).toEqual([]);
});
