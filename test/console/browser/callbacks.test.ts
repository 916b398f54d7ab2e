// What was reported to hosts, and sending a report again.

import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { openHost } from "../../callbacks/stage.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";

test("a callback appears, is filtered by its state in the address, and is sent again", async () => {
  const settings = { consoleEnabled: true, rateLimitRps: 0, securityAllowPrivateNetworks: true };
  const service = await startService(settings);
  const client = new GrpcClient(service.target);
  const opened = await openConsole(service.url, "callbacks", { viewport: { width: 1280, height: 800 } });
  const { page } = opened;
  await seeText(page, "No callbacks yet");
  await expectFit(page, "no callbacks");
  const host = await openHost();
  const callback = { baseUrl: host.baseUrl };
  const agent = { name: "reporter", model: "demo" };
  const { sessionId } = await client.call(SessionService.method.createSession, { agent, callback });
  const line = page.getByRole("listitem").filter({ hasText: sessionId });
  await line.filter({ hasText: "delivered" }).waitFor();
  await expectFit(page, "callbacks");
  await page.keyboard.press("j");
  await page.locator(":focus", { hasText: "Redeliver" }).waitFor();
  await page.locator(".chip", { hasText: "dead" }).click();
  await seeText(page, "No callback is dead.");
  await page.reload();
  await seeText(page, "No callback is dead.");
  await page.locator(".chip", { hasText: "delivered" }).click();
  expect(new URL(page.url()).search).toBe("?state=delivered");
  await line.getByRole("button", { name: "Redeliver" }).click();
  await seeText(page, "The callback is sent again.");
  await until("the host to be told again", () => host.requests.length === 2);
  expect(host.told(sessionId)).toEqual(["created", "created"]);
  expectCalm(opened);

  const other = await openConsole(service.url, "callbacks", { client: "stranger" });
  await seeText(other.page, "No callbacks yet");
});
