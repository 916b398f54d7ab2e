// The queue in the console: what waits and why, schedules, and replicas.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { ScheduleService } from "#gen/runnel/v1/schedule_service_pb.js";
import { Session_State } from "#gen/runnel/v1/session_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { enterAdminToken, expectCalm, openConsole, seeText } from "./console-page.ts";
import { setConsoleStage } from "./stage.ts";

const authAdminToken = "the-admin-token-of-these-tests";

test("the queue says what waits for what, oldest first, and the operator sees the replicas", async () => {
  const { provider, service, client } = await setConsoleStage({ authAdminToken, runsSlots: 1 });
  const opened = await openConsole(service.url, "queue", { viewport: { width: 1280, height: 800 } });
  const { page } = opened;
  await seeText(page, "No run waits.");
  await seeText(page, "There is no schedule.");
  await expectFit(page, "an empty queue");

  provider.respond((wire) => wire.hang());
  const newSession = async (): Promise<string> =>
    (await client.call(SessionService.method.createSession, { agent: { name: "worker" } })).sessionId;
  const send = async (sessionId: string, rest: object = {}): Promise<string> =>
    (await client.call(SessionService.method.sendMessage, { sessionId, message: "Go.", ...rest })).runId;
  const busy = await newSession();
  const first = await send(busy);
  await provider.request(0);
  const later = await send(await newSession(), { startTime: timestampFromMs(Date.now() + 5_000_000) });
  const behind = await send(busy, { queueIfBusy: true });
  const waits = await send(await newSession());
  const message = { message: "Go." };
  await client.call(ScheduleService.method.createSchedule, {
    schedule: { scheduleId: "nightly", cron: "0 3 * * *", sessionId: busy, message },
  });
  const rows = page.getByRole("table", { name: "Your runs that wait" }).locator("tbody tr");
  await rows.nth(2).waitFor();
  expect(await rows.locator("th").allTextContents()).toEqual([later, behind, waits].map((id) => id.slice(-8)));
  const reasons = await rows.locator("td:nth-of-type(3)").allTextContents();
  expect(reasons).toEqual([
    expect.stringMatching(/^its time, in 1h 2\dm$/),
    "the run before it in its session",
    "a free slot",
  ]);
  await page.reload();
  await seeText(page, "nightly");
  await seeText(page, "0 3 * * * UTC");
  await seeText(page, "The replicas need the admin token");
  await enterAdminToken(page, authAdminToken);
  const replica = page.getByRole("table", { name: "Replicas" }).locator("tbody tr");
  await replica.filter({ hasText: /left$/ }).waitFor();
  const { version } = await client.call(SystemService.method.getVersion, {});
  expect((await replica.locator("td").allTextContents()).filter((_, index) => index !== 1).slice(0, 3)).toEqual([
    version,
    "1",
    "1",
  ]);
  await seeText(
    page,
    /^Of all clients, 2 queued, 0 waiting, 1 behind another run of their session\. The oldest has waited/,
  );
  await expectFit(page, "a queue");
  const schedule = page.getByRole("table", { name: "Your schedules" }).getByRole("row").filter({ hasText: "nightly" });
  await schedule.getByRole("button", { name: "Pause nightly" }).click();
  await schedule.getByText("paused").waitFor();
  await schedule.getByRole("button", { name: "Start now a run of nightly" }).click();
  await seeText(page, "session already running");
  await schedule.getByRole("button", { name: "Resume nightly" }).click();
  await schedule.getByRole("button", { name: "Pause nightly" }).waitFor();
  await client.call(RunService.method.cancelRun, { runId: waits });
  await rows.nth(2).waitFor({ state: "detached" });
  provider.respond((wire) => wire.hang());
  await client.call(RunService.method.cancelRun, { runId: behind });
  await client.call(RunService.method.cancelRun, { runId: first });
  await until("the session to be free", async () => {
    const { session } = await client.call(SessionService.method.getSession, { sessionId: busy });
    return session?.status === Session_State.CANCELLED;
  });
  await schedule.getByRole("button", { name: "Start now a run of nightly" }).click();
  await seeText(page, "A run of the schedule has started.");
  const { runs } = await client.call(RunService.method.listRuns, { sessionId: busy, pageSize: 1 });
  await schedule.getByRole("link", { name: `run ${runs[0]?.runId.slice(-8)}` }).waitFor();
  await client.call(RunService.method.cancelRun, { runId: runs[0]?.runId ?? "" });
  // The browser complains about the refusal of a busy session.
  expectCalm({ ...opened, complaints: opened.complaints.filter((each) => !each.includes("status of 400")) });
});
