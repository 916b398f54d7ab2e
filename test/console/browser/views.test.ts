// The views of the console: each opens by its address, after a reload and by the buttons of the browser, and asks only its service.

import { expect, onTestFinished, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { modelFlags } from "../../conformance/stage.ts";
import { answer, callTools, type FakeProvider, startFakeProvider } from "../../fakes/provider.ts";
import { keyOf } from "../../harness/credentials.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService, type TestService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeBadge, seeText, setVisibility } from "./console-page.ts";

interface Stage {
  readonly provider: FakeProvider;
  readonly service: TestService;
  readonly client: GrpcClient;
}

async function setStage(): Promise<Stage> {
  const provider = await startFakeProvider();
  onTestFinished(() => provider.close());
  const service = await startService({ ...modelFlags(provider), consoleEnabled: true, rateLimitRps: 0 });
  return { provider, service, client: new GrpcClient(service.target) };
}

async function startRun(client: GrpcClient, message: string, tools: readonly string[] = []): Promise<string> {
  const { sessionId } = await client.call(SessionService.method.createSession, {
    agent: { name: "tester", tools: { builtin: [...tools] } },
  });
  return (await client.call(SessionService.method.sendMessage, { sessionId, message })).runId;
}

async function endRun(client: GrpcClient, runId: string): Promise<void> {
  await until("the run to end", async () => {
    const { run } = await client.call(RunService.method.getRun, { runId });
    return run?.endTime !== undefined;
  });
}

test("each view opens by its address, after a reload and with the buttons of the browser", async () => {
  const { provider, service, client } = await setStage();
  provider.respond(answer("A short answer."));
  const runId = await startRun(client, "Say something.");
  await endRun(client, runId);
  const opened = await openConsole(service.url, `runs/${runId}`);
  const { page } = opened;
  await seeText(page, "A short answer.");
  await seeBadge(page, /^ended, complete · at \d+$/);
  await page.reload();
  await seeText(page, "A short answer.");

  await page.getByRole("link", { name: "Runs", exact: true }).first().click();
  await page.getByRole("row").filter({ hasText: "A short answer." }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/console/runs");
  await page.getByRole("navigation").getByRole("link", { name: "New run" }).click();
  await page.getByLabel("Message").waitFor();
  await page.goBack();
  await page.goBack();
  await seeText(page, "A short answer.");
  await page.goForward();
  await page.getByRole("row").filter({ hasText: "A short answer." }).waitFor();
  expectCalm(opened);
});

test("the newest plan of a run is a checklist above its transcript", async () => {
  const { provider, service, client } = await setStage();
  const plan = (id: string, ...statuses: readonly string[]) => {
    const items = statuses.map((status, index) => ({ text: `Step ${index + 1}\u202e`, status }));
    return callTools({ id, name: "todo", arguments: JSON.stringify({ items }) });
  };
  provider.respond(plan("c1", "pending"), plan("c2", "completed", "in_progress", "pending"), answer("Half done."));
  const runId = await startRun(client, "Work.", ["todo"]);
  await endRun(client, runId);
  const opened = await openConsole(service.url, `runs/${runId}`);
  await seeText(opened.page, "Plan, 1 of 3 done");
  const steps = opened.page.getByRole("list", { name: "Plan" }).getByRole("listitem");
  expect(await steps.allTextContents()).toEqual([
    "doneStep 1‹U+202E›",
    "in progressStep 2‹U+202E›",
    "to doStep 3‹U+202E›",
  ]);
  await seeText(opened.page, "Half done.");
  await expectFit(opened.page, "a run with a plan");
  expectCalm(opened);
});

test("the list shows runs as they begin and end, and its filter lives in the address", async () => {
  const { provider, service, client } = await setStage();
  const gate = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    await gate.promise;
    await answer("Done at last.")(wire, {} as never);
  });
  const opened = await openConsole(service.url);
  const { page } = opened;
  await seeText(page, "No runs yet");
  const runId = await startRun(client, "Wait.");
  const row = page.getByRole("row").filter({ hasText: runId.slice(-8) });
  await row.filter({ hasText: "running" }).waitFor();
  gate.resolve();
  await row.filter({ hasText: "completed" }).filter({ hasText: "Done at last." }).waitFor();

  await page.getByRole("checkbox", { name: "failed" }).check({ force: true });
  await seeText(page, "No run matches this filter");
  expect(new URL(page.url()).search).toBe("?state=failed");
  await page.reload();
  await seeText(page, "No run matches this filter");
  expectCalm(opened);
});

test("one click on an empty list shows a live run", async () => {
  const { provider, service } = await setStage();
  const gate = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    wire.text("Live ");
    await gate.promise;
    wire.text("text.");
    wire.finish("stop");
    wire.done();
  });
  const { page } = await openConsole(service.url);
  await page.getByRole("button", { name: "Start a first run" }).click();
  await seeText(page, "Live");
  await seeBadge(page, /^live · at \d+$/);
  gate.resolve();
  await seeText(page, "Live text.");
  await seeBadge(page, /^ended, complete/);
});

test("keys move through the list, open a run and lead back", async () => {
  const { provider, service, client } = await setStage();
  provider.respond(answer("one"), answer("two"));
  const first = await startRun(client, "1");
  await endRun(client, first);
  const second = await startRun(client, "2");
  await endRun(client, second);
  const { page } = await openConsole(service.url);
  for (const runId of [first, second]) {
    await page
      .getByRole("row")
      .filter({ hasText: runId.slice(-8) })
      .waitFor();
  }
  await seeText(page, /^live$/);
  await page.keyboard.press("j");
  await page.locator(":focus", { hasText: second.slice(-8) }).waitFor();
  await page.keyboard.press("j");
  await page.locator(":focus", { hasText: first.slice(-8) }).waitFor();
  await page.keyboard.press("Enter");
  await seeText(page, "one");
  expect(page.url()).toContain(first);
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page
    .getByRole("row")
    .filter({ hasText: first.slice(-8) })
    .waitFor();
  await page.keyboard.press("/");
  expect(await page.locator(":focus").getAttribute("placeholder")).toBe("press / to search");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Help" }).waitFor();
});

test("what the filter shows is cancelled together", async () => {
  const { provider, service, client } = await setStage();
  const never = (): Promise<void> => new Promise(() => {});
  provider.respond(never, never);
  const runs = [await startRun(client, "1"), await startRun(client, "2")];
  const { page } = await openConsole(service.url);
  await page.getByRole("button", { name: "Cancel 2 active" }).click();
  await page.getByRole("button", { name: "Cancel them" }).click();
  await seeText(page, "Asked 2 runs to stop.");
  for (const runId of runs) {
    await page
      .getByRole("row")
      .filter({ hasText: runId.slice(-8) })
      .filter({ hasText: "cancelled" })
      .waitFor();
  }
});

test("a run is started in the form, followed, repeated with its input edited, and forked", async () => {
  const { provider, service } = await setStage();
  provider.respond(answer("First answer."), answer("Second answer."), answer("Forked answer."));
  const opened = await openConsole(service.url, "new");
  const { page } = opened;
  await page.getByLabel("Message").fill("It's the first message.");
  for (const [language, part] of [
    ["curl", `-d '{"message":"It'\\''s the first message."}'`],
    ["gRPC", "runnel.v1.SessionService/CreateSession"],
    ["Python", `message="It's the first message."`],
    ["Go", "runnel.NewSessionServiceClient(conn)"],
    ["OpenAI", "client.responses.create"],
    ["TypeScript", `message: "It's the first message."`],
  ] as const) {
    await page.getByRole("tab", { name: language }).click();
    await page.getByRole("tabpanel").filter({ hasText: part }).waitFor();
  }
  await page.getByRole("button", { name: "Start the run" }).click();
  await seeText(page, "First answer.");
  await page.getByRole("link", { name: "Run again" }).click();
  await page.getByLabel("Message").fill("The second message.");
  await page.getByRole("button", { name: "Start the run" }).click();
  await seeText(page, "Second answer.");
  expect(provider.requests.map(({ body }) => JSON.stringify(body)).at(-1)).toContain("The second message.");
  await page.getByRole("link", { name: "Fork" }).click();
  await page.getByLabel("Continue after").selectOption({ index: 1 });
  await page.getByLabel("Message").fill("The third message.");
  await page.getByRole("button", { name: "Start the run" }).click();
  await seeText(page, "Forked answer.");
  const last = JSON.stringify(provider.requests.at(-1)?.body);
  expect(last).toContain("The second message.");
  expect(last).not.toContain("Second answer.");
  expectCalm(opened);
});

test("files go with the message, into the code beside it, and into a repetition", async () => {
  const { provider, service } = await setStage();
  provider.respond(answer("A red dot."), answer("Still red."));
  const { page } = await openConsole(service.url, "new");
  await page.getByLabel("Message").fill("What is this?");
  const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
  const files = [
    { name: "dot.png", mimeType: "image/png", buffer: Buffer.from(dot, "base64") },
    { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("unwanted") },
  ];
  await page.getByLabel("Images and files").setInputFiles(files);
  await page.getByRole("button", { name: "Remove notes.txt" }).click();
  for (const language of ["gRPC", "TypeScript", "Python", "Go", "OpenAI", "curl"]) {
    await page.getByRole("tab", { name: language }).click();
    await page.getByRole("tabpanel").filter({ hasText: "data:image/png;base64,<base64 of dot.png>" }).waitFor();
  }
  await expectFit(page, "new run with a file");
  await page.getByRole("button", { name: "Start the run" }).click();
  await seeText(page, "A red dot.");
  await page.getByRole("img", { name: "dot.png" }).waitFor();
  await page.getByRole("link", { name: "Run again" }).click();
  expect(await page.getByLabel("Message").inputValue()).toBe("What is this?");
  await page.getByRole("button", { name: "Start the run" }).click();
  await seeText(page, "Still red.");
  for (const { body } of provider.requests) {
    expect(JSON.stringify(body)).toContain(dot);
    expect(JSON.stringify(body)).not.toContain("unwanted");
  }
});

test("a page without a key asks for one, keeps what it shows, and never puts the key in an address or a store", async () => {
  const { provider, service, client } = await setStage();
  provider.respond(answer("Only for its client."));
  const runId = await startRun(client, "Say something.");
  const { page } = await openConsole(service.url, `runs/${runId}`, { client: null });
  const dialog = page.getByRole("dialog", { name: "The service asks for an API key" });
  await dialog.getByLabel("API key").fill("wrong");
  await dialog.getByRole("button", { name: "Use this key" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("API key").fill(keyOf());
  await dialog.getByRole("button", { name: "Use this key" }).click();
  await seeText(page, "Only for its client.");
  expect(page.url()).toBe(`${service.url}/console/runs/${runId}`);
  const stored = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
  expect(stored).not.toContain(keyOf());
  await page.reload();
  await page.getByRole("dialog", { name: "The service asks for an API key" }).waitFor();
});

test("two clients do not see each other's runs", async () => {
  const { provider, service, client } = await setStage();
  provider.respond(answer("Secret of one client."));
  const runId = await startRun(client, "Say something.");
  const { page } = await openConsole(service.url, `runs/${runId}`, { client: "stranger" });
  await seeText(page, "Not found");
  await page.goto(`${service.url}/console/runs`);
  await seeText(page, "No runs yet");
  expect(await page.content()).not.toContain("Secret of one client.");
});

test("hostile text stays text", async () => {
  const { provider, service, client } = await setStage();
  const hostile = [
    "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>",
    "[click](javascript:document.title='owned') ![image](https://evil.example/x.png)",
    "[https://bank.example](https://evil.example/login)",
    "\u001b[31mred\u001b[0m \u202etxt.exe",
    '```html\n<b onclick="alert(1)">bold</b>\n```',
  ].join("\n\n");
  provider.respond(
    callTools({ id: "one", name: "read_file", arguments: JSON.stringify({ path: "<b>x</b>\u202e.txt" }) }),
    answer(hostile),
  );
  const runId = await startRun(client, "Read <i>this</i>.", ["read_file"]);
  await endRun(client, runId);
  const opened = await openConsole(service.url, `runs/${runId}`);
  const { page } = opened;
  await seeText(page, "<img src=x onerror=");
  await seeText(page, "[click](javascript:document.title='owned')");
  await seeText(page, "␛[31mred␛[0m ‹U+202E›txt.exe");
  await seeText(page, "(evil.example)");
  await seeText(page, "<b>x</b>‹U+202E›.txt");
  expect(await page.locator(".transcript :is(img, script, i, b[onclick])").count()).toBe(0);
  const links = await page.locator(".markdown a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  expect(links).toEqual(["https://evil.example/x.png", "https://evil.example/login"]);
  expect(await page.title()).not.toBe("owned");
  expectCalm(opened);
});

test("a hidden page holds no stream, and continues where it was", async () => {
  const { provider, service, client } = await setStage();
  const gate = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    wire.text("before ");
    await gate.promise;
    wire.text("after");
    wire.finish("stop");
    wire.done();
  });
  const runId = await startRun(client, "Wait.");
  const { page } = await openConsole(service.url, `runs/${runId}`);
  await seeText(page, "before");
  await until("the stream", () => service.app.countReaders() === 1);
  await setVisibility(page, "hidden");
  await seeBadge(page, /^paused/);
  await until("the stream to close", () => service.app.countReaders() === 0);
  gate.resolve();
  await endRun(client, runId);
  await setVisibility(page, "visible");
  await seeText(page, "before after");
  await seeBadge(page, /^ended, complete/);
});

test("every view fits both themes and narrow screens, with nothing that axe finds", async () => {
  const { provider, service, client } = await setStage();
  const longWord = "with-a-very-long-word-that-has-no-space-in-it-and-goes-on-and-on-for-ever-and-ever";
  provider.respond(
    callTools({ id: "one", name: "list_dir", arguments: "{}" }),
    answer(
      `# A heading\n\nSome *text* ${longWord} with \`code\` and a [link](https://example.com).\n\n\`\`\`js\nlet x;\n\`\`\``,
    ),
  );
  const runId = await startRun(client, "Look around.", ["list_dir"]);
  await endRun(client, runId);
  const { page } = await openConsole(service.url, "runs");
  await page.getByRole("row").filter({ hasText: "completed" }).waitFor();
  const views = [
    ["runs", "completed"],
    ["runs?state=failed", "No run matches"],
    [`runs/${runId}`, "A heading"],
    [`runs/${runId}?tab=waterfall`, "queue"],
    [`runs/${runId}?tab=entries&seq=3`, "entry 3"],
    ["new", "Start the run"],
    ["unknown/view", "There is no such page"],
  ] as const;
  for (const [path, text] of views) {
    await page.goto(`${service.url}/console/${path}`);
    await seeText(page, text);
    await expectFit(page, path);
  }
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await expectFit(page, "help");
});

test("the button of the theme goes through all three, and the choice lasts", async () => {
  const { service } = await setStage();
  const { page } = await openConsole(service.url, "runs", { colorScheme: "light" });
  const ground = (): Promise<string> => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
  const light = await ground();
  await page.getByRole("button", { name: "Theme: system. Change to light" }).click();
  await page.getByRole("button", { name: "Theme: light. Change to dark" }).click();
  await page.getByRole("button", { name: "Theme: dark. Change to system" }).waitFor();
  await until("the dark ground", async () => (await ground()) !== light);
  await page.reload();
  await page.getByRole("button", { name: "Theme: dark. Change to system" }).click();
  await until("the light ground", async () => (await ground()) === light);
});
