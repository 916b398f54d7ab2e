// One run, which a program starts by the API of one provider or front end, and which programs of the others follow.

import { HttpAgent } from "@ag-ui/client";
import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { ask, openAgent } from "../ag-ui/stage.ts";
import { anthropicClient, hello } from "../anthropic/stage.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { openAiClient, setOpenAiStage } from "../openai/stage.ts";

const repeated = { headers: { "idempotency-key": "k-1", "runnel-session": "named" } };

/** Each asks for an answer, and returns its text. */
const starters: Readonly<Record<string, (url: string) => Promise<string>>> = {
  "a response": async (url) => (await openAiClient(url).responses.create({ model: "gpt-4o", input: "Hi" })).output_text,
  "a chat completion": async (url) => {
    const messages = [{ role: "user" as const, content: "Hi" }];
    const { choices } = await openAiClient(url).chat.completions.create({ model: "gpt-4o", messages });
    return choices[0]?.message.content ?? "";
  },
  "a message": askAnthropic,
  "AG-UI": async (url) => {
    const agent = openAgent(HttpAgent, url);
    ask(agent, "Hi");
    await agent.runAgent();
    return textOf(agent);
  },
};

async function askAnthropic(url: string): Promise<string> {
  const { content } = await anthropicClient(url).messages.create(hello, repeated);
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function textOf({ messages }: HttpAgent): string {
  const last = messages.at(-1);
  return last?.role === "assistant" ? (last.content ?? "") : "";
}

function responseIdOf(runId: string): string {
  return `resp_${runId.replaceAll("-", "")}`;
}

async function followResponse(url: string, runId: string): Promise<string> {
  const id = responseIdOf(runId);
  let text = "";
  for await (const event of await openAiClient(url).responses.retrieve(id, { stream: true })) {
    text += event.type === "response.output_text.delta" ? event.delta : "";
  }
  expect((await openAiClient(url).responses.retrieve(id)).output_text).toBe(text);
  return text;
}

async function connectThread(url: string, threadId: string): Promise<string> {
  const agent = openAgent(HttpAgent, url, { preset: "default/connect", threadId });
  await agent.runAgent();
  return textOf(agent);
}

test.each(Object.entries(starters))(
  "a run of %s is followed by the others, also when it has ended",
  async (name, start) => {
    const { provider, service } = await setOpenAiStage();
    const { url, target } = service;
    const told = Promise.withResolvers<void>();
    provider.respond(async (wire) => {
      wire.text("Hel");
      await told.promise;
      wire.text("lo");
      wire.done("stop");
    });
    const started = start(url);
    await provider.request(0);
    const { runs } = await new GrpcClient(target).call(RunService.method.listRuns, {});
    const { runId = "", sessionId = "" } = runs[0] ?? {};
    const isKept = name !== "a chat completion";
    const follow = () => [
      followResponse(url, runId),
      // The session of a chat completion ends with its call.
      ...(isKept ? [connectThread(url, sessionId)] : []),
      // Only this starter has a key: the API of messages cannot read one again without.
      ...(start === askAnthropic ? [askAnthropic(url)] : []),
    ];
    const following = follow();
    told.resolve();
    expect(new Set(await Promise.all([started, ...following]))).toEqual(new Set(["Hello"]));
    expect(new Set(await Promise.all(follow()))).toEqual(new Set(["Hello"]));
    expect(provider.requests).toHaveLength(1);
    await expect(openAiClient(url, "stranger").responses.retrieve(responseIdOf(runId))).rejects.toThrow(/404/);
  },
);
