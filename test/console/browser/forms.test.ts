// A server of MCP asks for a form, and a person fills it in: in the conversation, and in the inbox.

import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { openMcpServer } from "../../fakes/mcp-server.ts";
import { answer, callTools } from "../../fakes/provider.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";
import { setConsoleStage } from "./stage.ts";

const form: ElicitRequestFormParams = {
  message: "Where do you <b>travel</b> to?",
  requestedSchema: {
    type: "object",
    properties: {
      city: { type: "string", title: "City", minLength: 2 },
      nights: { type: "integer", default: 3, maximum: 9 },
      room: {
        type: "string",
        oneOf: [
          { const: "s", title: "Single" },
          { const: "d", title: "Double" },
        ],
      },
      extras: { type: "array", title: "Extras", items: { type: "string", enum: ["bike", "boat"] } },
    },
    required: ["city", "room"],
  },
};

async function setStage() {
  const given: unknown[] = [];
  const mcp = await openMcpServer((server) => {
    server.registerTool("book", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      given.push(await mcpReq.elicitInput(form));
      return { content: [{ type: "text", text: "booked" }] };
    });
  }, "sessions");
  const stage = await setConsoleStage({ securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"] });
  const { provider, client } = stage;
  const agent = { name: "traveller", tools: { mcp: [{ name: "srv", url: mcp.url, forms: true }] } };
  const { sessionId } = await client.call(SessionService.method.createSession, { agent });
  const send = async (): Promise<void> => {
    provider.respond(callTools({ id: "c1", name: "srv_book", arguments: "{}" }), answer("Have a good time."));
    await client.call(SessionService.method.sendMessage, { sessionId, message: "Book it." });
  };
  return { ...stage, given, sessionId, send };
}

test("a form is filled in where the conversation shows it, and wrong values are named", async () => {
  const { service, given, sessionId, send } = await setStage();
  await send();
  const opened = await openConsole(service.url, `sessions/${sessionId}`);
  const { page } = opened;
  await seeText(page, "Where do you <b>travel</b> to?");
  expect(await page.getByLabel("nights").inputValue()).toBe("3");
  await expectFit(page, "a session that waits for a form");
  await page.getByLabel("City (required)").fill("X");
  await page.getByLabel("room (required)").selectOption("Double");
  await page.getByRole("group", { name: "Extras" }).getByLabel("boat").check();
  await page.getByRole("button", { name: "Send the values" }).click();
  await seeText(page, /\/city must NOT have fewer than 2 characters/);
  await page.getByLabel("City (required)").fill("Lund");
  await page.getByRole("button", { name: "Send the values" }).click();
  await seeText(page, "Have a good time.");
  expect(given).toEqual([{ action: "accept", content: { city: "Lund", nights: 3, room: "d", extras: ["boat"] } }]);
  // The browser reports the refused call.
  expect(opened.complaints).toEqual([expect.stringContaining("400")]);
});

test("a form is declined in the inbox", async () => {
  const { service, client, given, send } = await setStage();
  await send();
  const opened = await openConsole(service.url, "approvals");
  const { page } = opened;
  await seeText(page, "Where do you <b>travel</b> to?");
  await page.getByRole("button", { name: "Decline" }).click();
  await until("the server to know", () => given.length > 0);
  expect(given).toEqual([{ action: "decline" }]);
  const { approvals } = await client.call(ApprovalService.method.listApprovals, {});
  expect(approvals).toMatchObject([{ state: Approval_State.REJECTED }]);
  expectCalm(opened);
});
