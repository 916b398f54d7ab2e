// The main use case, end to end: a session, a message, tools, and two readers of the same run.

import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { readSse } from "../harness/sse.ts";

test("a run that calls tools reads the same over gRPC and SSE", async () => {
  const service = await startService();
  const client = new GrpcClient(service.target);
  const { sessionId } = await client.call(SessionService.method.createSession, {
    agent: { name: "first", tools: { builtin: ["list_dir"] } },
  });
  const { runId } = await client.call(SessionService.method.sendMessage, {
    sessionId,
    message: "list the files pace=0",
  });
  const sequences: bigint[] = [];
  let text = "";
  for await (const { results } of client.stream(RunService.method.tailRun, { runId })) {
    for (const { sequence, payload } of results) {
      sequences.push(sequence);
      if (payload.case === "messageDelta") {
        text += payload.value.chunk?.content ?? "";
      }
    }
  }
  const events = [];
  for await (const event of readSse(`${service.url}/v1/sessions/${sessionId}/stream`)) {
    events.push(event);
  }
  expect(sequences).toEqual(sequences.map((_, index) => BigInt(index + 1)));
  expect(text).not.toBe("");
  expect(
    events
      .filter(({ event }) => event === "text")
      .map(({ data }) => JSON.parse(data).content)
      .join(""),
  ).toBe(text);
  expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(["tool_call", "tool_result"]));
  expect(events.at(-1)?.event).toBe("done");
});
