// The catalogue of events, and what happens with an event: a line at its level, or only a count.

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { CreateApiKeyResponseSchema } from "#gen/runnel/v1/auth_service_pb.js";
import { protocolEvents } from "../../src/app/protocols.ts";
import { coreEvents, createEvents, type EventListeners, type EventRow } from "../../src/platform/telemetry/events.ts";
import type { LogLevel } from "../../src/platform/telemetry/logger.ts";
import { openTestLog } from "./test-log.ts";

function openEvents(level: LogLevel = "debug", listeners: EventListeners = {}) {
  const { logger, lines } = openTestLog(level);
  return { events: createEvents(logger, listeners), lines };
}

test("every event has a unique name in two words, and a sentence about it", () => {
  const rows = Object.values<EventRow<unknown>>({ ...coreEvents, ...protocolEvents });
  expect(new Set(rows.map((row) => row.name)).size).toBe(rows.length);
  for (const { name, about } of rows) {
    expect(name).toMatch(/^[a-z]+\.[a-z]+(_[a-z]+)*$/);
    expect(about).toMatch(/^[A-Z].+\.$/);
  }
});

test("an event is a line with its name, its level and its fields; times are rounded", () => {
  const { events, lines } = openEvents();
  events.runStarted({ runId: "r", epoch: 2, queueWaitMs: 12.6 });
  events.circuitOpened({ provider: "openai", model: "m", client: undefined, failures: 5, retryInMs: 30_000 });
  events.toolFinished({ tool: "read_file", outcome: "ok", durationMs: 0.4 });
  expect(lines()).toMatchObject([
    { level: 30, msg: "run.started", runId: "r", epoch: 2, queueWaitMs: 13 },
    { level: 40, msg: "circuit.opened", provider: "openai", failures: 5 },
    { level: 20, msg: "tool.finished", durationMs: 0 },
  ]);
});

test("an event below the log's level, or without a level, is counted and not logged", () => {
  const counted: string[] = [];
  const listeners = {
    toolFinished: ({ tool }: { tool: string }) => counted.push(tool),
    batchWritten: ({ results }: { results: number }) => counted.push(`${results} results`),
  };
  const { events, lines } = openEvents("info", listeners);
  events.toolFinished({ tool: "read_file", outcome: "ok", durationMs: 1 });
  events.batchWritten({ results: 3, durationMs: 1 });
  events.readerJoined({ transport: "grpc" });
  expect(counted).toEqual(["read_file", "3 results"]);
  expect(lines()).toEqual([]);
});

test("listeners get the original fields, not the logged ones", () => {
  const waits: unknown[] = [];
  const { events } = openEvents("silent", { runStarted: ({ queueWaitMs }) => waits.push(queueWaitMs) });
  events.runStarted({ runId: "r", epoch: 1, queueWaitMs: 0.25 });
  expect(waits).toEqual([0.25]);
});

test("an error becomes its message, the messages of its causes, and its stack", () => {
  const { events, lines } = openEvents();
  const socket = new Error("connection reset");
  const query = new Error("query failed", { cause: socket });
  events.requestFailed({ method: "GetRun", error: new Error("cannot read the run", { cause: query }) });
  events.requestFailed({ method: "GetRun", error: "only words" });
  expect(lines()).toMatchObject([
    {
      error: "cannot read the run",
      causes: ["query failed", "connection reset"],
      stack: expect.stringContaining("at "),
    },
    { error: "only words" },
  ]);
  expect(lines()[1]).not.toHaveProperty("stack");
});

test("a circular chain of causes ends", () => {
  const { events, lines } = openEvents();
  const error = new Error("round");
  error.cause = error;
  events.requestFailed({ method: "GetRun", error });
  expect(lines()[0]?.causes).toHaveLength(5);
});

test("a message among the fields loses the contract's secret fields, also in a list", () => {
  const { events, lines } = openEvents();
  const made = create(CreateApiKeyResponseSchema, { key: "rk_shown-once", apiKey: { displayName: "laptop" } });
  events.migrationsApplied({ names: [made as unknown as string] });
  expect(lines()[0]?.names).toEqual([{ key: "[redacted]", api_key: { display_name: "laptop" } }]);
});
