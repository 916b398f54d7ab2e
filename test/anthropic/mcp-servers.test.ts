// MCP servers that a request names: the service connects to them itself, for models of every provider. By the official Node client.

import type Anthropic from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { answer as answerOfClaude, onMessages } from "../fakes/anthropic-provider.ts";
import { type Describe, type FakeMcpServer, openMcpServer } from "../fakes/mcp-server.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";
import { type AnthropicStage, setAnthropicStage } from "./stage.ts";

const token = "secret-token-4711-abcdef";
const betas = ["mcp-client-2025-11-20" as const];

const describeTools: Describe = (server) => {
  for (const name of ["echo", "say.it"]) {
    server.registerTool(name, { inputSchema: z.object({ message: z.string() }) }, async ({ message }) => ({
      content: [{ type: "text", text: `Echo: ${message}` }],
    }));
  }
};

const setStage = () => setAnthropicStage({ securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"] });

function serversOf({ url }: FakeMcpServer): Anthropic.Beta.BetaRequestMCPServerURLDefinition[] {
  return [{ type: "url", name: "docs", url, authorization_token: token }];
}

const call = { id: "call_1", name: "docs_echo", arguments: '{"message":"hi"}' };

const ofClaude = [
  onMessages((wire) => {
    wire.start();
    wire.toolUse(call.id, call.name, call.arguments);
    wire.done("tool_use");
  }),
  ...["done", "later"].map((text) => onMessages(answerOfClaude(text))),
];

const models = [
  ["gpt-4o", ({ provider }: AnthropicStage) => provider.respond(callTools(call), answer("done"), answer("later"))],
  ["claude-sonnet-4-5", ({ claude }: AnthropicStage) => claude.respond(...ofClaude)],
] as const;

describe.each(models)("%s", (model, script) => {
  test.each([false, true])("calls a server, and its answer comes back as it was, stream: %s", async (stream) => {
    const stage = await setStage();
    const { client, service, claude, provider } = stage;
    const server = await openMcpServer(describeTools);
    script(stage);
    const request = {
      ...{ model, max_tokens: 100, betas, mcp_servers: serversOf(server) },
      tools: [{ type: "mcp_toolset" as const, mcp_server_name: "docs" }],
      messages: [{ role: "user" as const, content: "go" }],
    };
    const message = stream
      ? await client.beta.messages.stream(request).finalMessage()
      : await client.beta.messages.create(request);
    const content = message.content.filter(({ type }) => type !== "redacted_thinking");
    expect(content, JSON.stringify(message)).toHaveLength(3);
    const used = content.find(({ type }) => type === "mcp_tool_use") as Anthropic.Beta.BetaMCPToolUseBlock;
    expect([message.stop_reason, content]).toMatchObject([
      "end_turn",
      [
        { type: "mcp_tool_use", name: "echo", server_name: "docs", input: { message: "hi" } },
        { type: "mcp_tool_result", tool_use_id: used.id, is_error: false, content: [{ text: "Echo: hi" }] },
        { type: "text", text: "done" },
      ],
    ]);
    expect(new Set(server.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${token}`]));
    const again: Anthropic.Beta.BetaMessageParam[] = [
      ...request.messages,
      { role: "assistant", content: message.content as Anthropic.Beta.BetaContentBlockParam[] },
      { role: "user", content: "more" },
    ];
    const later = await client.beta.messages.create({ ...request, messages: again });
    expect(later.content).toMatchObject([{ type: "text", text: "later" }]);
    const sent = JSON.stringify((await (model === "gpt-4o" ? provider : claude).request(2)).body);
    expect([sent.includes("docs_echo"), sent.includes("Echo: hi"), sent.includes("mcp_tool_use")]).toEqual([
      ...[true, true, false],
    ]);
    const kept = JSON.stringify(await query(service.databaseUrl, "select annotations from run"));
    const told = [sent, kept, JSON.stringify([message, later])].map((text) => text.includes(token));
    expect(told).toEqual([false, false, false]);
  });
});

test("a toolset says which tools the model has", async () => {
  const { client, provider } = await setStage();
  const server = await openMcpServer(describeTools);
  provider.respond(answer("done"));
  await client.beta.messages.create({
    ...{ model: "gpt-4o", max_tokens: 100, betas, mcp_servers: serversOf(server) },
    tools: [
      {
        ...{ type: "mcp_toolset", mcp_server_name: "docs", default_config: { enabled: false } },
        configs: { echo: { enabled: true }, "say.it": {} },
      },
    ],
    messages: [{ role: "user", content: "go" }],
  });
  const { tools } = (await provider.request(0)).body as unknown as { tools: { function: { name: string } }[] };
  expect(tools.map((tool) => tool.function.name)).toEqual(["docs_echo"]);
});

test.each([
  ["mcp_servers[0].name", { mcp_servers: [{ type: "url", name: "1st", url: "https://docs.example/mcp" }] }],
  ["tools[0].mcp_server_name", { tools: [{ type: "mcp_toolset", mcp_server_name: "other" }] }],
  [
    "tools[0].configs.echo.enabled",
    { tools: [{ type: "mcp_toolset", mcp_server_name: "docs", configs: { echo: { enabled: false } } }] },
  ],
])("an invalid %s is refused by its name", async (field, more) => {
  const { post } = await setStage();
  const mcp_servers = [{ type: "url", name: "docs", url: "https://docs.example/mcp" }];
  const messages = [{ role: "user", content: "go" }];
  const refused = await post({ model: "gpt-4o", max_tokens: 100, messages, mcp_servers, ...more });
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { type: "invalid_request_error", message: expect.stringContaining(field) } },
  ]);
});
