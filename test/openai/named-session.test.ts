// Programs such as Codex keep their own history, and name their session by a header: their requests are runs of one session.

import type OpenAI from "openai";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { hangAfter } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { lastResponse, setOpenAiStage, speak } from "./stage.ts";

async function setNamedStage() {
  const { client, provider, service } = await setOpenAiStage();
  const headers = { "session-id": "task-1" };
  const ask = (...input: readonly object[]) =>
    client.responses.create(
      { model: "gpt-4o", store: false, input: input as OpenAI.Responses.ResponseInput },
      { headers },
    );
  const grpc = new GrpcClient(service.target);
  const transcript = async (sessionId = "task-1") => {
    const { messages } = await grpc.call(SessionService.method.listMessages, { sessionId, pageSize: 250 });
    return messages.map(({ message }) => message?.content.value);
  };
  const names = async () =>
    (await grpc.call(SessionService.method.listSessions, {})).sessions.map(({ sessionId }) => sessionId).sort();
  return { client, provider, headers, ask, transcript, names };
}

const user = (content: string) => ({ role: "user", content });

test("a history that goes on adds to the session; one that was edited forks it", async () => {
  const { provider, ask, transcript, names } = await setNamedStage();
  provider.respond(speak("one"), speak("two"), speak("three"));
  const first = await ask(user("1"));
  await ask(user("1"), ...first.output, user("2"));
  expect(await transcript()).toEqual(["1", "one", "2", "two"]);
  expect((await ask(user("1"), ...first.output, user("other"))).output_text).toBe("three");
  expect(await names()).toEqual(["task-1", "task-1_fork1"]);
  expect(await transcript()).toEqual(["1", "one", "2", "two"]);
  expect(await transcript("task-1_fork1")).toEqual(["1", "one", "other", "three"]);
  expect((await provider.request(2)).body.messages).toHaveLength(3);
});

test("a request that is refused makes neither the session nor a fork", async () => {
  const { client, headers, provider, ask, names } = await setNamedStage();
  const refused = (...input: readonly object[]) =>
    expect(
      client.responses.create(
        { model: "gpt-4o", temperature: 9, input: input as OpenAI.Responses.ResponseInput },
        { headers },
      ),
    ).rejects.toMatchObject({ param: "temperature" });
  await refused(user("1"));
  expect(await names()).toEqual([]);
  provider.respond(speak("one"));
  await ask(user("1"));
  await refused(user("other"));
  expect(await names()).toEqual(["task-1"]);
});

test("a request that is sent again follows its run, also while that works", async () => {
  const { client, headers, provider, ask, names } = await setNamedStage();
  const gate = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    wire.text("a ");
    await gate.promise;
    await speak("b")(wire, undefined as never);
  });
  const leaving = new AbortController();
  const body = { model: "gpt-4o", store: false, input: [user("1")] as OpenAI.Responses.ResponseInput };
  const cut = await client.responses.create({ ...body, stream: true }, { headers, signal: leaving.signal });
  for await (const { type } of cut) {
    if (type === "response.output_text.delta") {
      break;
    }
  }
  leaving.abort();
  const again = Array.fromAsync(await client.responses.create({ ...body, stream: true }, { headers }));
  gate.resolve();
  const response = lastResponse(await again);
  expect(response.output).toMatchObject([{ content: [{ text: "a b" }] }]);
  expect((await ask(user("1"))).id).toBe(response.id);
  expect(provider.requests).toHaveLength(1);
  expect(await names()).toEqual(["task-1"]);
});

test("a request whose run failed starts another one", async () => {
  const { provider, ask, transcript } = await setNamedStage();
  provider.respond(fail(400, '{"error":{"message":"no"}}'), speak("one"));
  await expect(ask(user("1"))).rejects.toMatchObject({ status: 400 });
  expect((await ask(user("1"))).output_text).toBe("one");
  expect(await transcript("task-1_fork1")).toEqual(["1", "one"]);
});

test("a session that still works is left to its run", async () => {
  const { client, headers, provider, ask, names } = await setNamedStage();
  provider.respond(hangAfter("a"), speak("two"));
  const body = { model: "gpt-4o", background: true, input: [user("1")] as OpenAI.Responses.ResponseInput };
  const { id } = await client.responses.create(body, { headers });
  await until("the request", () => provider.requests.length === 1);
  expect((await ask(user("1"), user("2"))).output_text).toBe("two");
  expect(await names()).toEqual(["task-1", "task-1_fork1"]);
  await client.responses.cancel(id);
});

test("each thread of a session is a session of its own", async () => {
  const { client, provider, names, transcript } = await setNamedStage();
  const ask = (thread: string, ...input: readonly object[]) =>
    client.responses.create(
      { model: "gpt-4o", input: input as OpenAI.Responses.ResponseInput },
      { headers: { "session-id": "task-1", "thread-id": thread } },
    );
  provider.respond(speak("one"), speak("two"), speak("three"));
  const first = await ask("task-1", user("1"));
  await ask("helper", user("1"), ...first.output, user("2"));
  await ask("task-1", user("1"), ...first.output, user("3"));
  expect(await names()).toEqual(["helper", "task-1"]);
  expect(await transcript("helper")).toEqual(["1", "one", "2", "two"]);
  expect(await transcript()).toEqual(["1", "one", "3", "three"]);
});

test("a name that no session can have is a session too, and an empty one names nothing", async () => {
  const { client, provider, names } = await setNamedStage();
  provider.respond(speak("one"), speak("two"), speak("three"), speak("four"));
  const ask = (name: string, ...input: readonly object[]) =>
    client.responses.create(
      { model: "gpt-4o", input: input as OpenAI.Responses.ResponseInput },
      { headers: { "session-id": name } },
    );
  const first = await ask("a/b c", user("1"));
  await ask("a/b c", user("1"), ...first.output, user("2"));
  expect(await names()).toEqual([expect.stringMatching(/^thread_[0-9a-f]{64}$/)]);
  await ask("", user("1"));
  await ask("", user("1"));
  expect(await names()).toHaveLength(3);
});
