// McpService over every surface: the servers of the settings, the tools of one and a call, with the official server package behind it.

import { describe, expect } from "vitest";
import { z } from "zod";
import { readMcpServers } from "../../src/platform/config/mcp-servers.ts";
import { type Describe, type FakeMcpServer, openHttpServer, openMcpServer } from "../fakes/mcp-server.ts";
import { test as base, expectRefused, setStage } from "./stage.ts";
import { surfaces } from "./surfaces.ts";

const token = "secret-token-4711-abcdef";

const describeTools: Describe = (server) => {
  server.registerTool(
    "sum.of",
    {
      ...{ title: "Sum", description: "Adds two numbers.", inputSchema: z.object({ a: z.number(), b: z.number() }) },
      annotations: { readOnlyHint: true, destructiveHint: false },
    },
    async ({ a, b }) => ({
      content: [{ type: "text", text: String(a + b) }],
      structuredContent: { sum: a + b },
    }),
  );
  server.registerTool("fail", { inputSchema: z.object({}) }, async (_, { http }) => ({
    isError: true,
    content: [{ type: "text", text: `no disk for ${http?.req?.headers.get("authorization")}` }],
  }));
};

const openServer = (): Promise<FakeMcpServer> => openMcpServer(describeTools);

const test = base
  .extend("mcp", () => openServer())
  .extend("stage", ({ kind, mcp }) => {
    const lines = [
      `docs=${JSON.stringify({ url: `${mcp.url}?key=${token}`, headers: { authorization: `Bearer ${token}` } })}`,
      `files=${JSON.stringify({ command: "node", args: ["/opt/mcp/files.js"], env: { KEY: token } })}`,
      `theirs=${JSON.stringify({ url: "https://theirs.example/mcp", clients: ["key:other"] })}`,
    ];
    return setStage(kind, {
      mcpServers: readMcpServers(lines.join("\n")) ?? expect.fail("the lines are valid"),
      securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"],
    });
  });

describe.each(surfaces)("over $name", (kind) => {
  test.override("kind", kind);

  test("the servers of the settings are listed for those who may name them, without their secrets", async ({
    api,
    mcp,
  }) => {
    expect(await api.listMcpServers()).toEqual({
      servers: [
        { name: "docs", transport: "http", origin: new URL(mcp.url).origin },
        { name: "files", transport: "stdio" },
      ],
    });
    expect(mcp.requests).toEqual([]);
  });

  test("the tools of a server are listed, and one is called", async ({ api, mcp }) => {
    const { tools } = await api.listMcpTools({ server: { name: "docs" } });
    expect(tools).toEqual([
      {
        ...{ name: "sum.of", tool_name: "docs_sum_of", title: "Sum", description: "Adds two numbers." },
        input_schema: expect.objectContaining({ type: "object", required: ["a", "b"] }),
        annotations: { read_only: true, destructive: false },
      },
      { name: "fail", tool_name: "docs_fail", input_schema: expect.objectContaining({ type: "object" }) },
    ]);
    const call = { server: { name: "docs" }, tool: "sum.of", arguments: '{"a":1,"b":2.5}' };
    expect(await api.callMcpTool(call)).toEqual({ result: { content: "3.5", structured_content: { sum: 3.5 } } });
    expect(await api.callMcpTool({ server: { name: "docs" }, tool: "fail" })).toEqual({
      error: "no disk for [redacted]",
    });
    const wrong = await api.callMcpTool({ ...call, arguments: '{"a":"x","b":2}' });
    expect(wrong).toEqual({ error: "invalid arguments: /a must be number (#/properties/a/type)" });
    expect(mcp.calls()).toHaveLength(2);
    const headers = [{ name: "authorization", value: "Bearer own" }];
    const byUrl = await api.callMcpTool({ server: { name: "srv", url: mcp.url, headers }, tool: "fail" });
    expect(byUrl).toEqual({ error: "no disk for [redacted]" });
  });

  test("what is wrong is named, with the nearest name", async ({ api, mcp }) => {
    const notFound = { grpcCode: "NOT_FOUND", httpStatus: 404 };
    await expectRefused(api.listMcpTools({ server: { name: "dosc" } }), {
      ...{ ...notFound, reason: "MCP_SERVER_NOT_FOUND" },
      text: /^mcp server "dosc": there is no such server in the settings: .* docs, files; did you mean docs\?$/,
    });
    await expectRefused(api.listMcpTools({ server: { name: "theirs" } }), {
      ...{ ...notFound, reason: "MCP_SERVER_NOT_FOUND", text: /^mcp server "theirs"/ },
    });
    await expectRefused(api.callMcpTool({ server: { name: "docs" }, tool: "sum_of" }), {
      ...{ ...notFound, reason: "MCP_TOOL_NOT_FOUND" },
      text: 'the server offers no tool "sum_of"; did you mean sum.of?',
    });
    const only = { name: "docs", allowedTools: ["fail"] };
    await expectRefused(api.callMcpTool({ server: only, tool: "sum.of" }), {
      ...{ ...notFound, reason: "MCP_TOOL_NOT_FOUND", text: 'the server offers no tool "sum.of"' },
    });
    const invalid = { grpcCode: "INVALID_ARGUMENT", httpStatus: 400, reason: "INVALID_ARGUMENT" };
    await expectRefused(api.listMcpTools({ server: { name: "docs", allowedTools: ["missing"] } }), {
      ...{ ...invalid, text: 'mcp server "docs": it has no tool "missing"' },
    });
    await expectRefused(api.callMcpTool({ server: { name: "docs" }, tool: "fail", arguments: "[]" }), {
      ...{ ...invalid, text: "invalid arguments: must be a JSON object" },
    });
    await expectRefused(api.listMcpTools({}), { ...invalid, text: /server/ });
    const guarded = await expectRefused(api.listMcpTools({ server: { name: "srv", url: "http://10.0.0.1/mcp" } }), {
      ...{ ...invalid, text: 'mcp server "srv": private IP mcp servers are not allowed' },
    });
    expect(guarded.violations).toMatchObject([{ field: "server" }]);
    const closed = await openHttpServer((_, response) => void response.writeHead(401).end());
    await expectRefused(api.listMcpTools({ server: { name: "srv", url: closed.url } }), {
      ...{ grpcCode: "UNAVAILABLE", httpStatus: 502, reason: "MCP_SERVER_FAILED" },
      text: 'mcp server "srv": the server answered 401: give it valid credentials in the headers',
    });
    expect(mcp.calls()).toEqual([]);
  });
});
