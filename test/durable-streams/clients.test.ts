// The protocol's official client, unmodified, over kill -9: in each live mode it has every message of a run once, in order.

import { stream } from "@durable-streams/client";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { answer } from "../fakes/provider.ts";
import { openProvider } from "../fault/cluster.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startProcess } from "../harness/process.ts";
import { startHalfRun } from "./half-run.ts";

interface Message {
  readonly sequence: number;
}

test.for(["long-poll", "sse"] as const)("a run is read by live=%s over kill -9 of its service", async (live) => {
  const { url, restart } = await startHalfRun();
  const messages: Message[] = [];
  let restarted: Promise<void> | undefined;
  let offset = "-1";
  let isClosed = false;
  while (!isClosed) {
    const log = await stream<Message>({ url, headers: credentialsOf(), offset, live });
    log.closed.catch(() => undefined);
    try {
      for await (const message of log.jsonStream()) {
        messages.push(message);
        if ("message_delta" in message && restarted === undefined) {
          restarted = restart();
        }
      }
    } catch {
      // The client repeats polls by itself. Of a stream that breaks it tells the program, which goes on from the offset.
    }
    ({ offset, streamClosed: isClosed } = log);
  }
  await restarted;
  expect(messages.map(({ sequence }) => sequence)).toEqual(messages.map((_, index) => index + 1));
  expect(messages.at(-1)).toHaveProperty("run_completed");
});

test("a run that has ended is read at once, in one answer", async () => {
  const { provider, environment } = await openProvider();
  provider.respond(answer("The harbour is quiet."));
  const service = await startProcess({ ...environment, RUNNEL_DATABASE_URL: await testDatabase() });
  const client = new GrpcClient(service.target);
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "tester" } });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "How is it?" });
  const options = { url: `${service.url}/v1/runs/${runId}/stream`, headers: credentialsOf() };
  const followed: Message[] = [];
  for await (const message of (await stream<Message>({ ...options, offset: "-1", live: "long-poll" })).jsonStream()) {
    followed.push(message);
  }
  const caughtUp = await stream<Message>({ ...options, live: false });
  expect(await caughtUp.json()).toEqual(followed);
  expect(followed.at(-1)).toHaveProperty("run_completed");
});
