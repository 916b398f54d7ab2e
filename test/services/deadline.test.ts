// A unary call ends in time, even when its handler waits without end.

import { Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { createDeadlineInterceptor } from "../../src/api/deadline.ts";
import { createErrorMapper, createFaultInterceptor } from "../../src/api/faults.ts";
import { createEvents } from "../../src/platform/telemetry/events.ts";
import { createLogger } from "../../src/platform/telemetry/logger.ts";
import { createManualClock } from "../harness/manual-clock.ts";

const events = createEvents(createLogger("silent"));

function openStage(getVersion: () => Promise<object>) {
  const clock = createManualClock();
  const transport = createRouterTransport((router) => router.service(SystemService, { getVersion }), {
    router: { interceptors: [createFaultInterceptor(createErrorMapper(events, [])), createDeadlineInterceptor(clock)] },
  });
  return { clock, client: createClient(SystemService, transport) };
}

/** A handler that waits for something that never comes. */
const never = () => new Promise<object>(() => {});

test("a call that takes longer than a minute fails with a timeout", async () => {
  const { clock, client } = openStage(never);
  const call = client.getVersion({});
  await clock.slept(1);
  clock.advance(59_999);
  clock.advance(1);
  await expect(call).rejects.toMatchObject({ code: Code.DeadlineExceeded, rawMessage: "no answer within 60 s" });
});

test("a caller's own deadline ends the call, even when the handler ignores its signal", async () => {
  const { client } = openStage(never);
  await expect(client.getVersion({}, { timeoutMs: 20 })).rejects.toMatchObject({ code: Code.DeadlineExceeded });
});

test("a call ends at once when its caller leaves", async () => {
  const { clock, client } = openStage(never);
  const leaving = new AbortController();
  const call = client.getVersion({}, { signal: leaving.signal });
  await clock.slept(1);
  leaving.abort();
  await expect(call).rejects.toMatchObject({ code: Code.Canceled });
});

test("an answer in time is returned, and no timer remains", async () => {
  const { clock, client } = openStage(async () => ({ version: "1" }));
  expect((await client.getVersion({})).version).toBe("1");
  // Ends every pending sleep; none of them can fail a call that is over.
  clock.advance(120_000);
});
