// Journeys through what surrounds runs: schedules, tools and keys.

import { expect } from "vitest";
import { z } from "zod";
import { ScheduleService } from "#gen/runnel/v1/schedule_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { readMcpServers } from "../../../../src/platform/config/mcp-servers.ts";
import { openMcpServer } from "../../../fakes/mcp-server.ts";
import { answer } from "../../../fakes/provider.ts";
import { startService } from "../../../harness/service.ts";
import { enterAdminToken, seeText } from "../console-page.ts";
import { setConsoleStage } from "../stage.ts";
import { journey } from "./journey.ts";

const authAdminToken = "the-admin-token-of-these-tests";

journey(9, "a person pauses a schedule, lets it work again, starts a run of it and reads the answer", async (start) => {
  const { provider, service, client } = await setConsoleStage();
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "reporter" } });
  await client.call(ScheduleService.method.createSchedule, {
    schedule: { scheduleId: "nightly", cron: "0 3 * * *", sessionId, message: { message: "Report." } },
  });
  provider.respond(answer("All is quiet."));
  const { page } = await start(service.url);
  await page.getByRole("navigation").getByRole("link", { name: "Queue" }).click();
  const schedule = page.getByRole("table", { name: "Your schedules" }).getByRole("row").filter({ hasText: "nightly" });
  await schedule.getByRole("button", { name: "Pause nightly" }).click();
  await schedule.getByText("paused").waitFor();
  await schedule.getByRole("button", { name: "Resume nightly" }).click();
  await schedule.getByText("paused").waitFor({ state: "detached" });
  await schedule.getByRole("button", { name: "Start now a run of nightly" }).click();
  await seeText(page, "A run of the schedule has started.");
  await schedule.getByRole("link", { name: /^run / }).click();
  await seeText(page, "All is quiet.");
});

journey(10, "a person tries a tool of an MCP server", async (start) => {
  const server = await openMcpServer((tools) => {
    tools.registerTool(
      "search",
      { description: "Finds pages.", inputSchema: z.object({ query: z.string(), count: z.number().default(3) }) },
      async (given) => ({ content: [{ type: "text", text: `found ${JSON.stringify(given)}` }] }),
    );
  });
  const service = await startService({
    ...{ consoleEnabled: true, securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"] },
    mcpServers: readMcpServers(`docs=${JSON.stringify({ url: server.url })}`) ?? expect.fail("the line is valid"),
  });
  const { page } = await start(service.url);
  await page.getByRole("navigation").getByRole("link", { name: "MCP servers" }).click();
  await page.getByRole("list", { name: "Tools" }).getByRole("link").filter({ hasText: "search" }).click();
  await page.getByRole("button", { name: "Call", exact: true }).waitFor();
  await page.getByLabel("query (required)").fill("harbour");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await seeText(page, 'found {"query":"harbour","count":3}');
});

journey(
  11,
  "an operator creates an API key, a person uses it, and reads why it no longer works when it is revoked",
  async (start) => {
    const service = await startService({ consoleEnabled: true, authAdminToken });
    const { page } = await start(service.url);
    await page.getByRole("navigation").getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("navigation").getByRole("link", { name: "Service" }).click();
    await page.getByRole("tab", { name: "API keys" }).click();
    await enterAdminToken(page, authAdminToken);
    await page.getByRole("button", { name: "Create a key" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Client", { exact: true }).fill("billing");
    await form.getByLabel("Name, for people").fill("laptop");
    await form.getByRole("button", { name: "Create the key" }).click();
    const key = await form.getByLabel("The key", { exact: true }).innerText();
    await form.getByRole("button", { name: "I have kept it" }).click();

    const person = await start(service.url, { client: null });
    const dialog = person.page.getByRole("dialog");
    await dialog.getByLabel("API key").fill(key);
    await dialog.getByRole("button", { name: "Use this key" }).click();
    await seeText(person.page, "No runs yet");
    await seeText(person.page, /^live$/);

    await page.getByRole("button", { name: "Revoke the key laptop of billing" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke the key" }).click();
    await page.getByRole("row").filter({ hasText: "laptop" }).filter({ hasText: "revoked" }).waitFor();
    await dialog.getByText("The key was revoked.").waitFor();
    await seeText(person.page, "No runs yet");
  },
  { complaints: /status of 401/ },
);
