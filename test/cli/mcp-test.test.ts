// `runnel mcp test`: the tools of a server, as a person checks them before an agent gets them.

import { expect, test } from "vitest";
import { z } from "zod";
import { openHttpServer, openMcpServer } from "../fakes/mcp-server.ts";
import { runCommand } from "./command.ts";

test("a server's tools are listed with the names that a model sees, and a wrong server says why", async () => {
  const server = await openMcpServer((each) => {
    each.registerTool("read.page", { description: "Reads a page.", inputSchema: z.object({}) }, async () => ({
      content: [],
    }));
  });
  const environment = { RUNNEL_MCP_TOKEN: "secret-4711" };
  const words = ["mcp", "test", server.url, "--name", "docs"];
  const listed = await runCommand(words, { environment });
  expect(listed).toEqual({
    code: 0,
    stdout: "TOOL            DESCRIPTION\ndocs_read_page  Reads a page.\n",
    stderr: "",
  });
  const { stdout } = await runCommand([...words, "--json"], { environment });
  expect(JSON.parse(stdout)).toMatchObject({ tools: [{ name: "docs_read_page", parameters: { type: "object" } }] });
  expect(new Set(server.requests.map(({ headers }) => headers.authorization))).toEqual(new Set(["Bearer secret-4711"]));

  const closed = await openHttpServer((_, response) => void response.writeHead(401).end());
  const refused = await runCommand(["mcp", "test", closed.url, "--json"]);
  expect(refused.code).toBe(1);
  expect(JSON.parse(refused.stderr)).toMatchObject({ reason: "MCP_SERVER" });
});
