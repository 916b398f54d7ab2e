// Agents that call agents, and conversations that are summarised, by the official client.

import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { boss, callOf, echo, openStage, type Part } from "../child-runs/team.ts";
import { compaction, filler, openLongTask } from "../compaction/long-task.ts";
import type { Script } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { lastResponse, openAiClient, type StreamEvent } from "./stage.ts";

const { createSession } = SessionService.method;
const model = "compatible:team";
const worker = { name: "worker", agent: { systemPrompt: "worker" } };
const bossAgent = { name: "boss", systemPrompt: "boss", maxTurns: 5, tools: { agents: [worker] } };

/** A call that has started a child run has the id of its response, which no type of the client has. */
type CallItem = { readonly type: string; readonly response_id?: string };

test("the call of an agent has the id of its response, which can be followed while it works", async () => {
  const gate = Promise.withResolvers<void>();
  const gated: Part = (messages, turn, request) => async (wire, call) => {
    wire.text("wait: ");
    await gate.promise;
    await (echo(messages, turn, request) as Script)(wire, call);
  };
  const stage = await openStage({ boss: boss(callOf("c1", "worker", { message: "dig" })), worker: gated });
  const { sessionId } = await stage.client.call(createSession, { agent: bossAgent });
  const client = openAiClient(stage.service.url);
  const asked = { model, input: "go", conversation: `conv_${sessionId}` };
  const events: StreamEvent[] = [];
  const reading = (async () => {
    for await (const event of await client.responses.create({ ...asked, stream: true })) {
      events.push(event);
    }
  })();
  const named = await until("the child's id", () =>
    events.find((event) => event.type === "response.mcp_call.in_progress" && "response_id" in event),
  );
  const { response_id: childId } = named as unknown as { readonly response_id: string };
  const working = await client.responses.retrieve(childId);
  expect(working).toMatchObject({ id: childId, status: "in_progress", instructions: null });
  const followed: StreamEvent[] = [];
  const following = (async () => {
    for await (const event of await client.responses.retrieve(childId, { stream: true })) {
      followed.push(event);
    }
  })();
  await until("the first text of the child", () => followed.some(({ type }) => type === "response.output_text.delta"));
  gate.resolve();
  await Promise.all([reading, following]);
  expect(lastResponse(followed)).toMatchObject({
    status: "completed",
    output: [{ content: [{ text: "wait: echo dig" }] }],
  });
  const response = lastResponse(events);
  const [call] = response.output as CallItem[];
  expect(call).toMatchObject({ type: "mcp_call", name: "worker", server_label: "runnel", response_id: childId });
  expect(response.output.at(-1)).toMatchObject({ content: [{ text: "they said: wait: echo dig" }] });
  // The same bytes for a late reader, and after any event.
  const late: StreamEvent[] = [];
  for await (const event of await client.responses.retrieve(response.id, { stream: true, starting_after: 3 })) {
    late.push(event);
  }
  expect(late).toEqual(events.slice(4));
  expect((await client.responses.stream({ response_id: response.id }).finalResponse()).output).toMatchObject(
    response.output,
  );
  // The item comes back as it was.
  const stateless = await client.responses.create({
    model,
    instructions: "worker",
    input: [...(response.output as never[]), { role: "user", content: "more" }],
  });
  expect(stateless.output_text).toBe("wait: echo more");
});

test("a summary is an item, and the client can send it back in place of the conversation", async () => {
  const stage = await openLongTask();
  const agent = { name: "talker", systemPrompt: "talker", compaction };
  const { sessionId } = await stage.client.call(createSession, { agent });
  const client = openAiClient(stage.service.url);
  const outputs: { readonly type: string }[][] = [];
  for (const fact of ["FACT-1", "FACT-2", "FACT-3", "FACT-4"]) {
    const input = `${fact} ${filler(40_000)}`;
    const { output } = await client.responses.create({ model, input, conversation: `conv_${sessionId}` });
    outputs.push(output);
  }
  const summaries = outputs.map((output) => output.filter(({ type }) => type === "compaction"));
  expect(summaries.map(({ length }) => length)).toEqual([0, 0, 1, 0]);
  const [summary] = summaries[2] ?? [];
  const input = [summary as never, { role: "user" as const, content: "What do you know?" }];
  const response = await client.responses.create({ model, instructions: "talker", input });
  expect(response.output_text).toBe("I know FACT-1, FACT-2");
});
