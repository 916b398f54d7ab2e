// `runnel mcp servers`, `tools` and `call`: a person looks at the servers of a service and tries a tool.

import { expect, test } from "vitest";
import { z } from "zod";
import { readMcpServers } from "../../src/platform/config/mcp-servers.ts";
import { openMcpServer } from "../fakes/mcp-server.ts";
import { startService } from "../harness/service.ts";
import { runCommand } from "./command.ts";

const inputSchema = z.object({ query: z.string(), count: z.number().optional() });

async function openStage() {
  const server = await openMcpServer((each) => {
    const about = { description: "Searches the pages.", annotations: { readOnlyHint: true } };
    each.registerTool("search", { ...about, inputSchema }, async ({ query, count = 1 }, { http }) => ({
      content: [{ type: "text", text: `${count} of ${query} for ${http?.req?.headers.get("x-token") ?? "all"}` }],
      structuredContent: { count },
    }));
  });
  const line = `docs=${JSON.stringify({ url: server.url, headers: { "x-token": "secret-token-4711" } })}`;
  const { url } = await startService({
    ...{ mcpServers: readMcpServers(line) ?? expect.fail("the line is valid") },
    securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"],
  });
  const environment = { RUNNEL_MCP_TOKEN: "own-token-4711" };
  const mcp = (...words: string[]) => runCommand(["mcp", ...words, "--url", url], { environment });
  return { server, mcp };
}

test("the servers of a service and the tools of one, as tables and as JSON", async () => {
  const { server, mcp } = await openStage();
  const { origin } = new URL(server.url);
  expect((await mcp("servers")).stdout).toBe(`SERVER  TRANSPORT  HOST\ndocs    http       ${origin}\n`);
  const { servers } = JSON.parse((await mcp("servers", "--json")).stdout);
  expect(servers).toEqual([{ name: "docs", transport: "http", origin }]);
  expect((await mcp("tools", "docs")).stdout).toBe(
    "TOOL    ARGUMENTS     DESCRIPTION\nsearch  query count?  Searches the pages.\n",
  );
  expect((await mcp("tools", "docs", "-o", "wide")).stdout).toMatch(/docs_search +read only/);
  const { tools } = JSON.parse((await mcp("tools", server.url, "--json")).stdout);
  expect(tools).toMatchObject([{ name: "search", input_schema: { required: ["query"] } }]);
});

test("a tool is called with JSON or with named arguments, which have the types of its schema", async () => {
  const { server, mcp } = await openStage();
  const named = await mcp("call", "docs", "search", "--arg", "query=1", "--arg", "count=2");
  expect(named).toEqual({ code: 0, stdout: "2 of 1 for [redacted]\n", stderr: "" });
  const { stdout } = await mcp("call", server.url, "search", '{"query":"x=y"}', "--json");
  expect(JSON.parse(stdout)).toEqual({ result: { content: "1 of x=y for all", structured_content: { count: 1 } } });
  expect(server.calls().map(({ headers }) => headers.authorization)).toEqual([undefined, "Bearer own-token-4711"]);

  const wrong = await mcp("call", "docs", "search", "{}", "--json");
  expect([wrong.code, JSON.parse(wrong.stderr)]).toMatchObject([
    1,
    { reason: "MCP_TOOL_FAILED", error: expect.stringContaining("query") },
  ]);
  const unknown = await mcp("call", "dosc", "search");
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("did you mean docs?") });
  const twice = await mcp("call", "docs", "search", "{}", "--arg", "query=1");
  expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining("arguments come twice") });
  expect(server.calls()).toHaveLength(2);
});
