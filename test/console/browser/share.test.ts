// A run is shared by a link: its reader has no key, sees the log live, and requests nothing else.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { openBreakingLine } from "../../conformance/breaking-line.ts";
import { endOfRun } from "../../conformance/stage.ts";
import { answer, callTools, type Script } from "../../fakes/provider.ts";
import { openProvider } from "../../fixtures.ts";
import { query, testDatabase } from "../../harness/database.ts";
import { findFreePorts } from "../../harness/free-ports.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startProcess } from "../../harness/process.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { type ConsolePage, expectCalm, openConsole, seeBadge, seeText } from "./console-page.ts";
import { takePicture } from "./pictures.ts";
import { setConsoleStage } from "./stage.ts";

const wide = { viewport: { width: 1280, height: 800 } };
const hostile = "<img src=x onerror=alert(1)> \u001b[31mred";

interface Started {
  readonly sessionId: string;
  readonly runId: string;
}

async function startRun(client: GrpcClient, agent: object = {}): Promise<Started> {
  const created = await client.call(SessionService.method.createSession, { agent: { name: "tester", ...agent } });
  const { sessionId } = created;
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "Write it." });
  return { sessionId, runId };
}

async function setStage() {
  const stage = await setConsoleStage();
  const { provider, service, client } = stage;
  return {
    ...stage,
    complete: async (text: string): Promise<string> => {
      provider.respond(answer(text));
      const { runId } = await startRun(client);
      await endOfRun(client, runId);
      return runId;
    },
    makePath: async (runId: string): Promise<string> => {
      const target = { target: { case: "runId" as const, value: runId } };
      return `shared#${runId}.${(await client.call(AuthService.method.createStreamTicket, { target })).ticket}`;
    },
    age: (minutes: number) => ageTickets(service.databaseUrl, minutes),
  };
}

/** Makes every ticket older, by the clock of the database. */
async function ageTickets(databaseUrl: string, minutes: number): Promise<void> {
  const change = "update stream_ticket set create_time = create_time - $1 * interval '1 minute'";
  await query(databaseUrl, change, [minutes]);
}

/** Opens the dialog and returns the link. */
async function shareRun(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Share" }).click();
  return await page.getByRole("textbox", { name: "Link" }).inputValue();
}

/** Opens a link as a person without a key does. */
async function openLink(link: string): Promise<ConsolePage> {
  const { origin, pathname, hash } = new URL(link);
  return await openConsole(origin, `${pathname.replace("/console/", "")}${hash}`, { client: null, ...wide });
}

/** Fails when the page has requested anything but its files and the stream of this run, or has sent a credential besides the ticket. */
async function expectOneStream({ requests }: ConsolePage, runId: string): Promise<void> {
  const paths = requests.map((request) => new URL(request.url()).pathname);
  const others = paths.filter((path) => !/^\/console\/(?:shared|icon\.svg|assets\/[\w.-]+)$/.test(path));
  expect(new Set(others)).toEqual(new Set([`/v1/runs/${runId}/results:tail`]));
  for (const request of requests) {
    const headers = await request.allHeaders();
    const sent = ["authorization", "cookie", "referer", "x-client-id"].map((name) => headers[name] ?? "");
    expect(sent, request.url()).toEqual(["", "", "", ""]);
    const { pathname, search } = new URL(request.url());
    expect(pathname.startsWith("/console/") && search).not.toContain("rt_");
  }
}

/** Returns the valid texts of the transcript, once each. */
async function readTexts(page: Page): Promise<readonly string[]> {
  return await page.locator(".row:not([data-void]) .said .markdown").allInnerTexts();
}

// The service dies while the model writes, and starts again. The reader does nothing, and later loads the page again.
test("a reader without a key sees text live, and has the whole text once after kill -9 in mid-sentence", async () => {
  const provider = await openProvider();
  const [port] = await findFreePorts(1);
  const databaseUrl = await testDatabase();
  const environment = {
    RUNNEL_CONSOLE_ENABLED: "true",
    RUNNEL_DATABASE_URL: databaseUrl,
    RUNNEL_DEFAULTS_MODEL: "gpt-4o-mini",
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: provider.baseUrl,
    RUNNEL_PROVIDERS_OPENAI_KEY: "test-key",
    RUNNEL_SERVER_PORT: String(port),
  };
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  provider.respond(
    async (wire) => {
      wire.text("The board between");
      await gates[0].promise;
      wire.text(" them will");
      await wire.hang();
    },
    async (wire) => {
      wire.text("The board between them");
      await gates[1].promise;
      await answer(" will not stay.")(wire, {} as never);
    },
  );
  const first = await startProcess(environment);
  const { runId } = await startRun(new GrpcClient(first.target));
  const sharer = await openConsole(first.url, `runs/${runId}`, wide);
  await seeText(sharer.page, "The board between");
  const link = await shareRun(sharer.page);
  const reader = await openLink(link);
  const { page } = reader;
  await seeText(page, "The board between");
  await seeBadge(page, /^live · at \d+$/);
  gates[0].resolve();
  await seeText(page, "The board between them will");
  await first.kill();
  await seeBadge(page, "reconnecting, nothing is lost");
  await seeText(page, "The service cannot be reached.");

  const second = await startProcess(environment);
  await seeText(page, "Restarted on another replica");
  expect(await page.locator(".row[data-void] del").first().textContent()).toBe("The board between them will");
  // The ticket expires, and the stream that is open continues.
  await ageTickets(databaseUrl, 15);
  gates[1].resolve();
  await seeBadge(page, /^ended, complete · at \d+$/);
  expect(await readTexts(page)).toEqual(["The board between them will not stay."]);
  const { run } = await new GrpcClient(second.target).call(RunService.method.getRun, { runId });
  expect(await page.locator("main .badge-text").textContent()).toBe(`ended, complete · at ${run?.lastSequence}`);
  await page.getByText(/^resumed \d+×$/).waitFor();
  await expectOneStream(reader, runId);

  await ageTickets(databaseUrl, -15);
  await page.reload();
  await seeBadge(page, `ended, complete · at ${run?.lastSequence}`);
  expect(await readTexts(page)).toEqual(["The board between them will not stay."]);
  await expectOneStream(reader, runId);
});

test("the dialog makes links, copies one, and counts down; a link works again until its end", async () => {
  const { provider, service, client } = await setStage();
  const gate = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    wire.text("First.");
    await gate.promise;
    await answer(" Last.")(wire, {} as never);
  });
  const { runId } = await startRun(client);
  const permissions = ["clipboard-read", "clipboard-write"];
  const opened = await openConsole(service.url, `runs/${runId}`, { ...wide, permissions });
  const link = await shareRun(opened.page);
  expect(link).toMatch(new RegExp(`^${service.url}/console/shared#${runId}\\.rt_[\\w-]{43}$`));
  const reader = await openLink(link);
  await seeText(reader.page, "First.");
  await opened.page.getByText(/^A reader has to open it within \d+ s\. It then works until/).waitFor();
  await opened.page.getByRole("button", { name: "Copy", exact: true }).click();
  await seeText(opened.page, "Copied");
  expect(await opened.page.evaluate("navigator.clipboard.readText()")).toBe(link);
  await expectFit(opened.page, "share");
  await opened.page.getByRole("button", { name: "Make another link" }).click();
  const field = opened.page.getByRole("textbox", { name: "Link" });
  const another = await until("another link", async () => {
    const made = await field.inputValue();
    return made !== link && made;
  });
  const second = await openLink(another);
  await seeText(second.page, "First.");
  await reader.page.reload();
  await seeText(reader.page, "First.");
  gate.resolve();
  for (const each of [reader, second]) {
    await seeText(each.page, "First. Last.");
    await seeBadge(each.page, /^ended, complete/);
    await expectOneStream(each, runId);
    expectCalm(each);
  }
  expectCalm(opened);

  await opened.page.getByRole("button", { name: "Close", exact: true }).click();
  await opened.page.clock.install();
  await shareRun(opened.page);
  await opened.page.clock.fastForward("01:01");
  await seeText(opened.page, /^Its 60 seconds are over\. If a reader has opened it in time, it works until/);
  await opened.page.clock.fastForward("15:00");
  await seeText(opened.page, /^This link expired at/);

  const stranger = await openConsole(service.url, `runs/${runId}`, { client: "stranger" });
  await seeText(stranger.page, "run not found");
  expect(await stranger.page.getByRole("button", { name: "Share" }).count()).toBe(0);
});

test("a reader sees calls, an approval and hostile texts as they are, in a tab and an entry of the address", async () => {
  const { provider, service, client, makePath } = await setStage();
  const call = { id: "one", name: "write_file", arguments: JSON.stringify({ file_path: "a.txt", content: hostile }) };
  const start: Script = (wire, request) => {
    wire.text(`${hostile}\n\n`);
    return callTools(call)(wire, request);
  };
  provider.respond(start);
  const { runId } = await startRun(client, { tools: { builtin: ["write_file"], approve: ["write_file"] } });
  const path = await makePath(runId);
  const reader = await openConsole(service.url, path, { client: null, ...wide });
  const { page } = reader;
  await seeText(page, "Approval asked: write_file");
  await seeText(page, "␛[31mred");
  await page.locator(".event pre", { hasText: '"content": "<img src=x onerror=alert(1)> \\u001b[31mred"' }).waitFor();
  expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  expect(await page.locator("img").count()).toBe(0);
  await expectFit(page, "a shared run");
  await page.getByRole("tab", { name: "Entries" }).click();
  await page.keyboard.press("j");
  await page.getByRole("link", { name: "turn.started" }).click();
  const [, hash] = path.split("#");
  expect(page.url()).toMatch(new RegExp(`/console/shared\\?tab=entries&seq=\\d+#${hash}$`));
  await page.reload();
  await page
    .getByRole("group", { name: /^entry \d+$/ })
    .filter({ hasText: '"turn_started"' })
    .waitFor();
  await page.locator(".entry", { hasText: "tool.call.started" }).click();
  const whole = await page.getByRole("group", { name: /^entry \d+$/ }).textContent();
  const { results } = await client.call(RunService.method.listRunResults, { runId });
  const stored = results.find(({ payload }) => payload.case === "toolCallStarted");
  const { parameters } = JSON.parse(whole ?? "").tool_call_started;
  expect(stored?.payload.value).toMatchObject({ toolCallId: "one", parameters: JSON.stringify(parameters) });
  await expectFit(page, "an entry of a shared run");
  await expectOneStream(reader, runId);
  expectCalm(reader);
});

test("a link that is too old, of another run or incomplete says what to ask for", async () => {
  const { service, complete, makePath, age } = await setStage();
  const [mine, other] = [await complete("Mine."), await complete("Other.")];
  const open = (path: string) => openConsole(service.url, path, { client: null, ...wide });
  const refusal = "The service does not accept this link";

  const unopened = await open("shared");
  await seeText(unopened.page, "This link is incomplete");
  await expectFit(unopened.page, "an incomplete link");
  expectCalm(unopened);

  const late = await makePath(mine);
  await age(1);
  const refused = await open(late);
  await seeText(refused.page, refusal);
  await seeBadge(refused.page, "stopped: the link is expired or unknown");
  await seeText(refused.page, "Ask the person who sent it to share the run again.");
  await expectFit(refused.page, "a refused link");
  await expectOneStream(refused, mine);

  const good = await makePath(mine);
  const [, hash = ""] = good.split("#");
  // As a person does who pastes the next link into the same tab.
  await refused.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await seeText(refused.page, "Mine.");
  const foreign = await open(good.replace(mine, other));
  await seeText(foreign.page, refusal);
  expect(await foreign.page.getByText("Other.").count()).toBe(0);

  await age(15);
  await refused.page.reload();
  await seeText(refused.page, refusal);
  // Each refusal is an error in the console of the browser, which names the status.
  const expected = /^Failed to load resource: the server responded with a status of 401/;
  expect(refused.complaints.filter((text) => !expected.test(text))).toEqual([]);
  expect(refused.foreign).toEqual([]);
});

test("a stream that is refused after it was open is tried again, and then says what to ask for", async () => {
  const { provider, service, client, makePath, age } = await setStage();
  const gate = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    wire.text("Half of it");
    await gate.promise;
    await answer(" and the rest.")(wire, {} as never);
  });
  const { runId } = await startRun(client);
  const line = await openBreakingLine(service.url);
  const { page } = await openConsole(line.url, await makePath(runId), { client: null, ...wide });
  await seeText(page, "Half of it");
  await age(15);
  line.cut();
  await seeText(page, "The service cannot be reached.");
  await seeText(page, "The service refused the stream.");
  await seeText(page, "The service does not accept this link");
  await seeText(page, /^This page keeps the \d+ entries that it has\./);
  await seeText(page, "Half of it");
  await expectFit(page, "a link that ended");
  await age(-15);
  gate.resolve();
  await page.getByRole("button", { name: "Try again" }).click();
  await seeText(page, "Half of it and the rest.");
  await seeBadge(page, /^ended, complete/);
});

const plan = `The migration has three steps, and each can be undone:

1. **Copy** the rows of \`orders\` in batches of 5,000.
2. **Compare** both tables by the checksum of each batch.
3. **Switch** the readers, then the writers.

\`\`\`sql
select count(*), sum(total_cents) from orders where id between 1 and 5000;
\`\`\`

The comparison runs now. Batch 12 of 40 `;

test("the dialog and the page of the reader make pictures", async () => {
  const { provider, service, client, makePath } = await setStage();
  provider.respond(
    callTools({ id: "one", name: "list_dir", arguments: '{"path":"."}' }),
    callTools({ id: "two", name: "grep", arguments: '{"pattern":"orders"}' }),
    async (wire) => {
      wire.reasoning("The table is too large for one statement, so the copy needs batches.");
      wire.text(plan);
      await wire.hang();
    },
  );
  const { runId } = await startRun(client, { name: "migrator", tools: { builtin: ["list_dir", "grep"] } });
  const share = {
    name: "share",
    path: `runs/${runId}`,
    text: "Make another link",
    prepare: async (page: Page) => {
      await seeText(page, "Batch 12 of 40");
      await page.getByRole("button", { name: "Share" }).click();
    },
  };
  await takePicture(service.url, share);
  const path = await makePath(runId);
  await takePicture(service.url, { name: "shared-run", path, text: "Batch 12 of 40" }, { client: null });
});
