// The MCP servers in the console: their tools, and a form that calls one, with the official server package behind them.

import { expect, test } from "vitest";
import { z } from "zod";
import { readMcpServers } from "../../../src/platform/config/mcp-servers.ts";
import { type Describe, openHttpServer, openMcpServer } from "../../fakes/mcp-server.ts";
import { startService } from "../../harness/service.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";

const describeTools: Describe = (server) => {
  server.registerTool(
    "search",
    {
      ...{
        title: "Search",
        description: "Finds <b>pages</b>.",
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      inputSchema: z.object({
        query: z.string().describe("The words."),
        count: z.number().default(3),
        order: z.enum(["newest", "best"]).optional(),
        exact: z.boolean().optional(),
        tags: z.array(z.string()).optional(),
      }),
    },
    async (given) => ({ content: [{ type: "text", text: `found ${JSON.stringify(given)}` }] }),
  );
  server.registerTool("fail", { inputSchema: z.object({}) }, async () => ({
    isError: true,
    content: [{ type: "text", text: "the disk is full" }],
  }));
};

async function openStage({ isKnown }: { readonly isKnown: boolean }) {
  const server = await openMcpServer(describeTools);
  const line = isKnown ? `docs=${JSON.stringify({ url: server.url })}` : "";
  const service = await startService({
    ...{ consoleEnabled: true, rateLimitRps: 0, securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"] },
    mcpServers: readMcpServers(line) ?? expect.fail("the line is valid"),
  });
  return { server, service };
}

test("a tool is called by a form of its schema, and by its arguments as JSON", async () => {
  const { server, service } = await openStage({ isKnown: true });
  const opened = await openConsole(service.url, "runs");
  const { page } = opened;
  await page.getByRole("navigation").getByRole("link", { name: "MCP servers" }).click();
  await page.getByRole("list", { name: "Tools" }).getByRole("link").filter({ hasText: "fail" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await seeText(page, "Finds <b>pages</b>.");
  expect(new URL(page.url()).search).toBe("?tool=search");
  await seeText(page, "changes nothing, stays in the server");
  expect(await page.getByLabel("count").inputValue()).toBe("3");
  await page.getByLabel("query (required)").fill("harbour");
  await page.getByLabel("order").selectOption("best");
  await page.getByLabel("exact").selectOption("false");
  await page.getByLabel("tags").fill("[1");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await seeText(page, "This is no JSON.");
  expect(server.calls()).toEqual([]);
  await page.getByLabel("tags").fill('["a"]');
  await page.getByRole("button", { name: "Call", exact: true }).focus();
  await page.keyboard.press("Enter");
  await seeText(page, 'found {"query":"harbour","count":3,"order":"best","exact":false,"tags":["a"]}');
  await expectFit(page, "a called tool");

  await page.getByRole("button", { name: "Write JSON" }).click();
  await page.getByLabel("Arguments", { exact: true }).fill('{"query": "boats"}');
  await page.getByRole("button", { name: "Show fields" }).click();
  expect(await page.getByLabel("query (required)").inputValue()).toBe("boats");
  await page.getByRole("button", { name: "Write JSON" }).click();
  await page.getByLabel("Arguments", { exact: true }).fill('{"query": 1}');
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await seeText(page, "invalid arguments: /query must be string");
  await expectFit(page, "a failed call");

  await page.reload();
  await seeText(page, "Finds <b>pages</b>.");
  await page.getByRole("list", { name: "Tools" }).getByRole("link").filter({ hasText: "fail" }).click();
  await seeText(page, "The schema names no arguments.");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await seeText(page, "the disk is full");
  expectCalm(opened);
});

test("another server is reached by its URL, and one that fails says why", async () => {
  const { server, service } = await openStage({ isKnown: false });
  const opened = await openConsole(service.url, "runs");
  const { page } = opened;
  await page.getByRole("navigation").getByRole("link", { name: "Memory" }).waitFor();
  expect(await page.getByRole("navigation").getByRole("link", { name: "MCP servers" }).count()).toBe(0);
  await page.keyboard.press("g");
  await page.keyboard.press("v");
  await seeText(page, "The settings name no servers");
  await expectFit(page, "no servers");
  await page.getByRole("navigation").getByRole("link", { name: "MCP servers" }).waitFor();
  await page.getByLabel("URL of the server").fill(server.url);
  await page.getByLabel("Bearer token").fill("token-4711");
  await page.keyboard.press("Enter");
  await seeText(page, "Finds <b>pages</b>.");
  expect(page.url()).not.toContain("token-4711");
  expect(server.requests[0]?.headers.authorization).toBe("Bearer token-4711");

  const closed = await openHttpServer((_, response) => void response.writeHead(403).end());
  await page.getByLabel("URL of the server").fill(closed.url);
  await page.keyboard.press("Enter");
  await seeText(page, "The server gave no tools");
  await seeText(page, "the server answered 403: give it valid credentials");
  await expectFit(page, "a server that fails");
  expect(opened.foreign).toEqual([]);
});
