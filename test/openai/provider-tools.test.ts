// A tool that the model's provider runs itself, in the middle of an answer, by the official Node client.

import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { onResponses } from "../fakes/responses-provider.ts";
import { type WebSearch, webSearches } from "../fakes/web-search.ts";
import { openWireServer } from "../fixtures.ts";
import { startService } from "../harness/service.ts";
import { lastResponse, openAiClient, textOfEvents } from "./stage.ts";

async function setStage({ flags }: WebSearch) {
  const server = await openWireServer();
  const service = await startService(flags(server.origin));
  return { server, client: openAiClient(service.url) };
}

/** The items of an output as a caller reads them. */
function outline(output: OpenAI.Responses.ResponseOutputItem[]): unknown[] {
  return output.map((item) =>
    item.type === "message" ? item.content.map((part) => (part.type === "output_text" ? part.text : part)) : item,
  );
}

describe.each(webSearches)("a search that $name runs", (search) => {
  const { model } = search;
  const cases = [
    ["between two texts", "Let me look. ", "It is sunny."],
    ["before the text", "", "It is sunny."],
    ["after the text", "Let me look.", ""],
  ] as const;
  const item = {
    type: "mcp_call",
    id: expect.stringMatching(/^mcp_/),
    server_label: "runnel",
    name: "web_search",
    approval_request_id: null,
    status: "completed",
    error: null,
  };

  test.each(cases)("%s is unseen in a chat completion, and the text is whole", async (_, before, after) => {
    const { server, client } = await setStage(search);
    const messages = [{ role: "user" as const, content: "weather?" }];
    server.respond(search.search(before, after), search.search(before, after));
    const whole = await client.chat.completions.create({ model, messages });
    const message = { role: "assistant", content: before + after };
    expect(whole.choices).toMatchObject([{ finish_reason: "stop", message }]);
    expect(whole.choices[0]?.message.tool_calls).toBeUndefined();
    const chunks = await Array.fromAsync(await client.chat.completions.create({ model, messages, stream: true }));
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    expect(deltas.map(({ content }) => content ?? "").join("")).toBe(before + after);
    expect(deltas.flatMap(({ tool_calls = [] }) => tool_calls)).toEqual([]);
    expect(chunks.at(-1)?.choices).toMatchObject([{ finish_reason: "stop" }]);
  });

  test.each(cases)("%s is an item of a response at its place, streamed or not", async (_, before, after) => {
    const { server, client } = await setStage(search);
    const texts = (text: string) => (text === "" ? [] : [[text]]);
    const expected = [...texts(before), item, ...texts(after)];
    server.respond(search.search(before, after), search.search(before, after));
    const whole = await client.responses.create({ model, input: "weather?" });
    expect(outline(whole.output)).toMatchObject(expected);
    expect(whole.output_text).toBe(before + after);
    const call = whole.output.find(({ type }) => type === "mcp_call") as OpenAI.Responses.ResponseOutputItem.McpCall;
    expect(JSON.parse(call.arguments)).toEqual(search.parameters);
    expect(JSON.parse(call.output ?? "")).toEqual({ content: search.found });
    expect(await client.responses.retrieve(whole.id)).toEqual(whole);
    const stream = client.responses.stream({ model, input: "weather?" });
    const events: OpenAI.Responses.ResponseStreamEvent[] = await Array.fromAsync(stream);
    expect(textOfEvents(events)).toBe(before + after);
    expect(outline(lastResponse(events).output)).toMatchObject(expected);
    expect(outline((await stream.finalResponse()).output)).toMatchObject(expected);
    const added = events.flatMap((event) => (event.type === "response.output_item.added" ? [event.item.type] : []));
    const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item.type] : []));
    expect(added).toEqual(whole.output.map(({ type }) => type));
    expect(done).toEqual(added);
    const again = await client.responses.retrieve(lastResponse(events).id);
    expect(again.output).toEqual(lastResponse(events).output);
  });

  test("goes back to its provider with the next response", async () => {
    const { server, client } = await setStage(search);
    server.respond(search.search("Let me look. ", "It is sunny."), search.say("Yes."));
    const first = await client.responses.create({ model, input: "weather?" });
    const next = await client.responses.create({ model, input: "sure?", previous_response_id: first.id });
    expect(next.output_text).toBe("Yes.");
    const { text } = await server.request(1);
    for (const written of search.written) {
      expect(text).toContain(written);
    }
  });
});

test("a tool that OpenAI runs reaches OpenAI alone, as it is written", async () => {
  const tool = { type: "web_search", search_context_size: "low" } as const;
  for (const search of webSearches) {
    const { server, client } = await setStage(search);
    server.respond(search.say("Yes."));
    const { tools } = await client.responses.create({ model: search.model, input: "weather?", tools: [tool] });
    expect(tools).toEqual([tool]);
    const { body } = await server.request(0);
    expect(body.tools).toEqual(search.tool.provider === "openai" ? [tool] : undefined);
  }
});

test("a function of the name of a tool that OpenAI runs goes beside it to OpenAI, and alone to others", async () => {
  const hosted = { type: "web_search" } as const;
  const own = { type: "function", name: "web_search", parameters: { type: "object" }, strict: null } as const;
  for (const search of webSearches) {
    const { server, client } = await setStage(search);
    server.respond(search.say("Yes."));
    await client.responses.create({ model: search.model, input: "weather?", tools: [hosted, own] });
    const { body } = await server.request(0);
    const isOpenAi = search.tool.provider === "openai";
    expect(body.tools).toHaveLength(isOpenAi ? 2 : 1);
    expect(body.tools).toContainEqual(expect.objectContaining({ name: "web_search" }));
    expect(JSON.stringify(body.tools)).toMatch(isOpenAi ? /{"type":"web_search"}/ : /^\[[^[]*\]$/);
  }
});

describe("a provider that waits for an approval of its MCP tool", () => {
  const asked = {
    type: "mcp_approval_request",
    id: "mcpr_1",
    server_label: "crm",
    name: "delete_all",
    arguments: "{}",
  };
  const said = expect.stringMatching(/MCP tool "delete_all".*"require_approval": "never"/);

  async function setApprovalStage(text: string) {
    const search = webSearches.find(({ tool }) => tool.provider === "openai") as WebSearch;
    const { server, client } = await setStage(search);
    const wait = onResponses((wire) => {
      if (text !== "") {
        wire.text(text);
      }
      wire.item(asked);
      wire.completed();
    });
    server.respond(wait);
    return { server, client, model: search.model };
  }

  test.each([
    [
      "a chat",
      (client: OpenAI, model: string) =>
        client.chat.completions.create({ model, messages: [{ role: "user", content: "go" }] }),
    ],
    ["a response", (client: OpenAI, model: string) => client.responses.create({ model, input: "go" })],
  ])("fails %s, and is asked once", async (_, call) => {
    const { server, client, model } = await setApprovalStage("");
    const error = await call(client, model).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: "invalid_request", message: said });
    expect(server.requests).toHaveLength(1);
  });

  test("fails a stream after its text", async () => {
    const { server, client, model } = await setApprovalStage("I will delete all.");
    const events: OpenAI.Responses.ResponseStreamEvent[] = await Array.fromAsync(
      client.responses.stream({ model, input: "go" }),
    );
    expect(textOfEvents(events)).toBe("I will delete all.");
    expect(lastResponse(events)).toMatchObject({ status: "failed", error: { message: said } });
    expect(server.requests).toHaveLength(1);
  });
});
