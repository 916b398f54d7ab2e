// MCP servers that a response names: the service connects to them itself. By the official Node client.

import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Describe, type FakeMcpServer, openMcpServer } from "../fakes/mcp-server.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";
import { lastResponse, openAiClient, setOpenAiStage } from "./stage.ts";

const token = "secret-token-4711-abcdef";

const describeTools: Describe = (server) => {
  for (const name of ["echo", "say.it"]) {
    server.registerTool(name, { inputSchema: z.object({ message: z.string() }) }, async ({ message }) => ({
      content: [{ type: "text", text: `Echo: ${message}` }],
    }));
  }
};

const setStage = () => setOpenAiStage({ securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"] });

function serverTool({ url }: FakeMcpServer, more: Partial<OpenAI.Responses.Tool.Mcp> = {}): OpenAI.Responses.Tool.Mcp {
  return {
    type: "mcp",
    server_label: "docs",
    server_url: url,
    authorization: token,
    require_approval: "never",
    ...more,
  };
}

const model = "gpt-4o";
const callOf = (name: string, id = "call_1") => callTools({ id, name, arguments: '{"message":"hi"}' });

test("a call is an item in the server's words, and its secrets are in no answer", async () => {
  const { client, provider, service } = await setStage();
  const server = await openMcpServer(describeTools);
  provider.respond(callOf("docs_say_it"), answer("done"), callOf("docs_echo"), answer("again"));
  const tools = [serverTool(server, { allowed_tools: ["say.it"], headers: { "x-team": token } })];
  const whole = await client.responses.create({ model, input: "go", tools });
  expect(whole.output).toMatchObject([
    {
      ...{ type: "mcp_call", server_label: "docs", name: "say.it", arguments: '{"message":"hi"}' },
      ...{ status: "completed", error: null, approval_request_id: null, output: expect.stringContaining("Echo: hi") },
    },
    { type: "message" },
  ]);
  const names = ((await provider.request(0)).body.tools as { function: { name: string } }[]).map(
    (tool) => tool.function.name,
  );
  expect(names).toEqual(["docs_say_it"]);
  expect(whole.tools[0]).toMatchObject({ server_url: server.url, headers: { "x-team": "<redacted>" } });
  expect(server.calls()[0]?.headers).toMatchObject({ authorization: `Bearer ${token}`, "x-team": token });
  const again = await Array.fromAsync(
    await client.responses.create({
      ...{ model, tools: [serverTool(server)], stream: true },
      input: [{ role: "user", content: "go" }, ...(whole.output as never[]), { role: "user", content: "again" }],
    }),
  );
  expect(lastResponse(again).output).toMatchObject([{ type: "mcp_call", name: "echo" }, { type: "message" }]);
  // The model reads the earlier call under the name that it knows.
  expect(JSON.stringify((await provider.request(2)).body.messages)).toContain("docs_say_it");
  const told = JSON.stringify([whole, again, await client.responses.retrieve(whole.id)]);
  const kept = JSON.stringify(await query(service.databaseUrl, "select annotations from run"));
  expect([told.includes(token), kept.includes(token)]).toEqual([false, false]);
});

describe.each([
  ["approved", true, "completed", "Echo: hi"],
  ["rejected", false, "failed", undefined],
] as const)("a call that is %s by its caller", (_, approve, status, output) => {
  test.each([true, false])("ends one response and begins the next, stream: %s", async (stream) => {
    const { client, provider, service } = await setStage();
    const server = await openMcpServer(describeTools);
    provider.respond(callOf("docs_echo"), answer("done"), answer("later"));
    const send = async (input: OpenAI.Responses.ResponseInput | string, more: object = {}) => {
      const request = { model, input, tools: [serverTool(server, { require_approval: null })], ...more };
      return stream
        ? lastResponse(await Array.fromAsync(await client.responses.create({ ...request, stream })))
        : await client.responses.create(request);
    };
    const asking = await send("go");
    const request = asking.output.at(-1) as OpenAI.Responses.ResponseItem.McpApprovalRequest;
    expect([asking.status, asking.output]).toMatchObject([
      "completed",
      [{ type: "mcp_approval_request", server_label: "docs", name: "echo", arguments: '{"message":"hi"}' }],
    ]);
    expect(server.calls()).toEqual([]);
    const given = { type: "mcp_approval_response" as const, approval_request_id: request.id, approve };
    const foreign = openAiClient(service.url, "stranger").responses.create({ model, input: [given] });
    await expect(foreign).rejects.toMatchObject({ status: 400, code: "interrupt_unknown" });
    const rest = await send([given], { previous_response_id: asking.id });
    expect(rest).toMatchObject({ status: "completed", previous_response_id: asking.id });
    expect(rest.output).toMatchObject([
      { type: "mcp_call", status, approval_request_id: request.id },
      { type: "message" },
    ]);
    expect(rest.output[0]).toMatchObject({ output: output === undefined ? null : expect.stringContaining(output) });
    expect(server.calls()).toHaveLength(approve ? 1 : 0);
    // Both can be retrieved, and the same answer again gives the same response.
    expect(await client.responses.retrieve(asking.id)).toEqual(await client.responses.retrieve(asking.id));
    expect((await client.responses.retrieve(asking.id)).output).toEqual(asking.output);
    expect((await client.responses.retrieve(rest.id)).output).toEqual(rest.output);
    expect((await send([given])).id).toBe(rest.id);
    const contrary = send([{ ...given, approve: !approve }]);
    await expect(contrary).rejects.toMatchObject({ status: 400, code: "interrupt_decided" });
    const later = await send("more", { previous_response_id: rest.id });
    expect(later.output).toMatchObject([{ content: [{ text: "later" }] }]);
  });
});

test.each([
  ["server_label", { server_label: "1st" }],
  ["authorization", { headers: { Authorization: "x" } }],
  ["allowed_tools.read_only", { allowed_tools: { read_only: true } }],
  ["require_approval.never", { require_approval: { never: { tool_names: ["echo"] } } }],
])("an invalid %s is refused by its name", async (field, more) => {
  const { client } = await setStage();
  const tool = { type: "mcp", server_label: "docs", server_url: "https://docs.example/mcp", authorization: token };
  const tools = [{ ...tool, ...more }] as OpenAI.Responses.Tool[];
  const refused = client.responses.create({ model, input: "go", tools });
  await expect(refused).rejects.toMatchObject({ status: 400, param: `tools[0].${field}` });
});

test("a chat completion has no requests for approval, so it takes servers without", async () => {
  const { client, provider } = await setStage();
  const server = await openMcpServer(describeTools);
  provider.respond(callOf("docs_echo"), answer("done"));
  const chat = (tool: object) =>
    client.chat.completions.create({ model, messages: [{ role: "user", content: "go" }], tools: [tool as never] });
  const { choices } = await chat(serverTool(server));
  expect(choices[0]?.message).toMatchObject({ content: "done" });
  const refused = chat(serverTool(server, { require_approval: "always" }));
  await expect(refused).rejects.toMatchObject({ status: 400, param: "tools[0].require_approval" });
});
