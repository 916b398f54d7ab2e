// The commands that empty views show, run as they stand there: each answers with what the view then has.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { endOfRun, modelFlags } from "../../conformance/stage.ts";
import { answer } from "../../fakes/provider.ts";
import { keyOf } from "../../harness/credentials.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { enterAdminToken, openConsole, seeText } from "./console-page.ts";
import { setConsoleStage } from "./stage.ts";

const run = promisify(execFile);
const adminToken = "token-of-the-operator-for-tests";

test.each([
  ["runs", /"run_id":/, "completed"],
  ["approvals", /"run_id":/, "list_dir"],
  ["callbacks", /"session_id":/, "created"],
  ["runners", /"runner_id":/, "Greeter"],
  ["memory", /"version":/, "style"],
  ["memory?agent=it's", /"version":/, "style"],
  ["usage", /"days":/, "1"],
  ["forum", /"slug":"home"/, "Home"],
] as const)("the lines of %s work as they stand there", async (path, told, shown) => {
  // As `runnel dev` starts: without keys. The forum's lines have the token of the operator.
  // The page says that its callback to this machine needs it.
  const access = path === "forum" ? { authAdminToken: adminToken } : { authApiKeys: [] };
  const { service } = await setConsoleStage({ ...access, securityAllowPrivateNetworks: true }, answer("Hello."));
  const { page } = await openConsole(service.url, path, path === "forum" ? {} : { client: null });
  if (path === "forum") {
    await enterAdminToken(page, adminToken);
  }
  const block = page.getByRole("group", { name: "paste into a terminal" });
  await block.first().waitFor();
  for (const lines of await block.allTextContents()) {
    const environment = { ...process.env, RUNNEL_ADMIN_TOKEN: adminToken };
    const { stdout } = await run("bash", ["-euo", "pipefail", "-c", lines], { env: environment });
    expect(stdout).toMatch(told);
  }
  await page.reload();
  if (path === "forum") {
    await enterAdminToken(page, adminToken);
  }
  await seeText(page, shown);
});

test("the signed call of the view Signatures works as it stands there", async () => {
  const { service } = await setConsoleStage();
  const { page } = await openConsole(service.url, "signatures?tab=request");
  await page.getByLabel("Client").fill("tenant-a");
  await page.getByLabel("Secret").fill(keyOf("tenant-a"));
  await page.getByLabel("Method").fill("POST");
  await page.getByLabel("Path and query").fill("/v1/sessions");
  await page.getByRole("textbox", { name: "Body" }).fill('{"agent":{"name":"it\'s signed"}}');
  const shown = page.getByRole("group", { name: "signed call for curl" });
  await shown.filter({ hasText: "it'\\''s signed" }).waitFor();
  const { stdout } = await run("bash", ["-euo", "pipefail", "-c", (await shown.textContent()) ?? ""]);
  expect(JSON.parse(stdout)).toMatchObject({ session_id: expect.any(String) });
});

test("the setting of the view Calls keeps the calls of later runs", async () => {
  const { provider, service, client, start } = await setConsoleStage({}, answer("Not kept."));
  const { runId } = await endOfRun(client, await start({}));
  const { page } = await openConsole(service.url, `runs/${runId}?tab=calls`);
  const [name = "", value = ""] = (
    (await page.getByRole("group", { name: "paste into a terminal" }).textContent()) ?? ""
  )
    .trim()
    .split("=");
  const flags = { ...modelFlags(provider), consoleEnabled: true };
  const keeping = await startService(flags, { environment: { [name]: value } });
  provider.respond(answer("Kept."));
  const later = new GrpcClient(keeping.target);
  const { sessionId } = await later.call(SessionService.method.createSession, { agent: { name: "tester" } });
  const sent = await later.call(SessionService.method.sendMessage, { sessionId, message: "Go." });
  await endOfRun(later, sent.runId);
  const kept = await openConsole(keeping.url, `runs/${sent.runId}?tab=calls`);
  await kept.page.locator("summary", { hasText: "Turn 1" }).waitFor();
});
