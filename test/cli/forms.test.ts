// Forms of servers at a terminal.

import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { startWithProvider } from "../conformance/stage.ts";
import { openMcpServer } from "../fakes/mcp-server.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { programPath } from "../harness/program.ts";
import { until } from "../harness/wait.ts";
import { runCommand, startInTerminal } from "./command.ts";

const form: ElicitRequestFormParams = {
  message: "Where to?",
  requestedSchema: {
    type: "object",
    properties: { city: { type: "string" }, nights: { type: "integer", default: 3 } },
    required: ["city"],
  },
};

async function openStage() {
  const given: unknown[] = [];
  const mcp = await openMcpServer((server) => {
    server.registerTool("book", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      given.push(await mcpReq.elicitInput(form));
      return { content: [{ type: "text", text: "booked" }] };
    });
  }, "sessions");
  const allowed = { securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"] };
  const { provider, service, client } = await startWithProvider(allowed);
  const agent = { name: "traveller", tools: { mcp: [{ name: "srv", url: mcp.url, forms: true }] } };
  const { sessionId } = await client.call(SessionService.method.createSession, { agent });
  return { provider, url: service.url, given, sessionId };
}

test("a person fills in the form of a server where it is asked for, or later", async () => {
  const { provider, url, given, sessionId } = await openStage();
  const ask = () => {
    provider.respond(callTools({ id: "c", name: "srv_book", arguments: "{}" }), answer("the end"));
    return startInTerminal([process.execPath, programPath, "run", "go", "--session", sessionId, "--url", url]);
  };
  const terminal = ask();
  await until("the question", () => terminal.stdout().includes("Fill in the form? [y,"));
  expect(terminal.stdout()).toContain("Where to?");
  terminal.type("y\r");
  await until("the first field", () => terminal.stdout().includes("city (string, required):"));
  terminal.type("Lund\r");
  await until("the second field", () => terminal.stdout().includes("nights (integer, default 3):"));
  terminal.type("2\r");
  expect((await terminal.ended).stdout).toMatch(/booked.*the end/s);
  expect(given).toEqual([{ action: "accept", content: { city: "Lund", nights: 2 } }]);

  const open = ask();
  await until("the question", () => open.stdout().includes("Fill in the form? [y,"));
  open.type("\r");
  const id = (await until("the id", () => /open: runnel approvals show (\S+)/.exec(open.stdout())?.[1])) ?? "";
  const shown = await runCommand(["approvals", "show", id, "--url", url]);
  const digest = /--digest (\S+) --values/.exec(shown.stdout)?.[1] ?? "";
  const approve = ["approvals", "approve", id, "--digest", digest, "--url", url, "--values"];
  expect(await runCommand([...approve, "{}"])).toMatchObject({ code: 1, stderr: expect.stringContaining("city") });
  expect(await runCommand([...approve, '{"city":"Malmö"}'])).toMatchObject({ code: 0 });
  expect((await open.ended).stdout).toMatch(/booked.*the end/s);
  expect(given.at(-1)).toEqual({ action: "accept", content: { city: "Malmö", nights: 3 } });
});
