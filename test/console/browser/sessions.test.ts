// Sessions in the console: conversations that a person reads, continues, forks and cancels.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { endOfRun } from "../../conformance/stage.ts";
import { answer, callTools, hangAfter, type Script } from "../../fakes/provider.ts";
import { fail } from "../../fakes/wire-server.ts";
import { openFolder } from "../../fixtures.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeBadge, seeText } from "./console-page.ts";
import { takePicture } from "./pictures.ts";
import { setConsoleStage } from "./stage.ts";

const { createSession, sendMessage, listSessions, listMessages } = SessionService.method;
const wide = { viewport: { width: 1280, height: 800 } };
const phone = { viewport: { width: 390, height: 844 } };

/** An image of one dot. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function setStage(...scripts: readonly Script[]) {
  const stage = await setConsoleStage({}, ...scripts);
  const { client } = stage;
  const say = async (sessionId: string, message: string): Promise<string> => {
    const { runId } = await client.call(sendMessage, { sessionId, message });
    await endOfRun(client, runId);
    return runId;
  };
  const open = async (agent: object): Promise<string> => (await client.call(createSession, { agent })).sessionId;
  return { ...stage, say, open };
}

/** An answer whose first words come at once, and whose rest comes when the gate opens. */
function answerInParts(first: string, gate: Promise<void>, rest: string): Script {
  return async (wire) => {
    wire.text(first);
    await gate;
    wire.text(rest);
    wire.finish("stop");
    wire.done();
  };
}

test("a person begins a session, and the answer streams in place; a message behind it waits and then has its answer", async () => {
  const gate = Promise.withResolvers<void>();
  const { provider, service, client } = await setStage(
    answerInParts("Once upon", gate.promise, " a time."),
    answer("The end."),
  );
  const opened = await openConsole(service.url, "sessions", wide);
  const { page } = opened;
  await seeText(page, "No sessions yet");
  await expectFit(page, "no sessions");
  await page.getByRole("main").getByRole("link", { name: "New session" }).first().click();
  const box = page.getByLabel("Message", { exact: true });
  await box.fill("Tell");
  await box.press("Shift+Enter");
  await box.pressSequentially("a story.");
  await expectFit(page, "a new session");
  await box.press("Enter");
  await seeText(page, "Once upon");
  await seeBadge(page, /^live/);
  expect(provider.requests[0]?.body.messages.at(-1)?.content).toBe("Tell\na story.");

  await box.fill("And then?");
  await box.press("Enter");
  await page.locator(".said.waiting", { hasText: "And then?" }).waitFor();
  expect(await box.inputValue()).toBe("");
  await expectFit(page, "a session with a message that waits");
  gate.resolve();
  await seeText(page, "The end.");
  expect(await page.locator(".said.waiting").count()).toBe(0);
  const said = page.getByRole("list", { name: "Conversation" }).locator(".said");
  await until("the whole conversation", async () => (await said.count()) === 4);
  expect((await said.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
    "user Tell a story.",
    "assistant Once upon a time.",
    "user And then?",
    "assistant The end.",
  ]);
  await page.getByRole("list", { name: "Sessions" }).getByText("2 runs").waitFor();
  const { sessions } = await client.call(listSessions, {});
  expect(sessions).toHaveLength(1);
  await page.reload();
  await until("the whole conversation", async () => (await said.count()) === 4);
  expectCalm(opened);
});

test("files come by paste and drop, are shown before and after, and reach the model", async () => {
  const { provider, service, open } = await setStage(answer("A dot."));
  const sessionId = await open({ name: "painter" });
  const opened = await openConsole(service.url, `sessions/${sessionId}`, wide);
  const { page } = opened;
  await seeText(page, "No message yet");
  const give = async (event: "paste" | "drop", name: string): Promise<void> => {
    const data = event === "paste" ? "clipboardData" : "dataTransfer";
    const kind = event === "paste" ? "ClipboardEvent" : "DragEvent";
    await page.evaluate(`{
      const ${data} = new DataTransfer();
      const bytes = Uint8Array.from(atob("${png}"), (character) => character.charCodeAt(0));
      ${data}.items.add(new File([bytes], "${name}", { type: "image/png" }));
      const made = new ${kind}("${event}", { ${data}, bubbles: true, cancelable: true });
      document.querySelector(".composer textarea").dispatchEvent(made);
    }`);
  };
  await give("paste", "one\u202egnp.png");
  await give("drop", "two.png");
  const chosen = page.getByRole("list", { name: "Chosen files" });
  await chosen.getByRole("img", { name: "one‹U+202E›gnp.png" }).waitFor();
  await chosen.getByRole("img", { name: "two.png" }).waitFor();
  await expectFit(page, "a message with files");
  await chosen.getByRole("button", { name: "Remove two.png" }).click();
  await page.getByLabel("Message", { exact: true }).fill("What is it?");
  await page.getByLabel("Model").fill("gpt-4o");
  await page.getByRole("button", { name: "Send" }).click();
  await seeText(page, "A dot.");
  // The answer may come before that of the call, and before the script that shows files.
  await chosen.waitFor({ state: "detached" });
  await page.getByRole("list", { name: "Conversation" }).getByRole("img").waitFor();
  const body = provider.requests[0]?.body;
  expect(body?.model).toBe("gpt-4o");
  expect(JSON.stringify(body?.messages)).toContain("iVBORw0KGgo");
  expectCalm(opened);
});

test("what a person types while a message is sent stays in the box", async () => {
  const { service, open } = await setStage(answer("Heard."));
  const opened = await openConsole(service.url, `sessions/${await open({ name: "listener" })}`, wide);
  const { page } = opened;
  const arrived = Promise.withResolvers<void>();
  await page.route("**/runnel.v1.SessionService/SendMessage", async (route) => {
    await arrived.promise;
    await route.continue();
  });
  const box = page.getByLabel("Message", { exact: true });
  await box.fill("First.");
  await box.press("Enter");
  await page.getByRole("button", { name: "Sending" }).waitFor();
  await box.pressSequentially("Second.");
  arrived.resolve();
  await seeText(page, "Heard.");
  await until("the rest", async () => (await box.inputValue()) === "Second.");
  await page.reload();
  expect(await box.inputValue()).toBe("Second.");
  expectCalm(opened);
});

test("a person gives the results of functions in the conversation, and the next run has them", async () => {
  const ask = { id: "one", name: "ask_person", arguments: '{"question":"Which colour?"}' };
  const look = { id: "two", name: "look_up", arguments: '{"word":"red"}' };
  const { provider, service, open, say } = await setStage(
    callTools(ask, look),
    answer("Red it is."),
    callTools({ ...ask, id: "three" }),
    answer("Then none."),
  );
  const functions = ["ask_person", "look_up"].map((name) => ({ name, parameters: '{"type":"object"}' }));
  const sessionId = await open({ name: "asker", tools: { functions } });
  await say(sessionId, "Paint it.");
  const opened = await openConsole(service.url, `sessions/${sessionId}`, wide);
  const { page } = opened;
  const form = page.getByRole("form", { name: "Answer the calls" });
  await form.getByLabel("Result of ask_person").fill("red, please");
  const failed = form.getByLabel("The call failed").nth(1);
  await form.getByLabel("Result of look_up").fill("no dictionary");
  await failed.check();
  await expectFit(page, "a session whose calls a person answers");
  await form.getByRole("button", { name: "Send the results" }).click();
  await seeText(page, "Red it is.");
  await form.waitFor({ state: "detached" });
  expect(provider.requests[1]?.body.messages.slice(-2)).toMatchObject([
    { role: "tool", tool_call_id: "one", content: "red, please" },
    { role: "tool", tool_call_id: "two", content: expect.stringContaining("no dictionary") },
  ]);

  const box = page.getByLabel("Message", { exact: true });
  await box.fill("Another one.");
  await box.press("Enter");
  await form.getByText("The agent waits for this result").waitFor();
  await box.fill("Never mind.");
  await box.press("Enter");
  await seeText(page, "Then none.");
  await form.waitFor({ state: "detached" });
  // The call of the run before has no result, and nothing runs.
  await page.locator(".tool", { hasText: "ask_person" }).last().getByText("no result").waitFor();
  expectCalm(opened);
});

test("an approval is decided in the conversation, and the run goes on in place", async () => {
  const call = callTools({ id: "one", name: "write_file", arguments: '{"file_path":"a.txt","content":"new"}' });
  const { service, client, open } = await setStage(call, answer("Written."), answer("Again."));
  const sessionId = await open({ name: "careful", tools: { builtin: ["write_file"], approve: ["write_file"] } });
  await client.call(sendMessage, { sessionId, message: "Write it." });
  const opened = await openConsole(service.url, `sessions/${sessionId}`, wide);
  const { page } = opened;
  await seeText(page, "Approval asked: write_file");
  await expectFit(page, "a session that waits for an approval");
  await page.getByRole("button", { name: "Approve" }).click();
  await seeText(page, "Written.");
  // In an earlier run, the call and its result are one row.
  await page.getByLabel("Message", { exact: true }).fill("Once more.");
  await page.getByLabel("Message", { exact: true }).press("Enter");
  await seeText(page, "Again.");
  await page.locator(".tool", { hasText: "write_file" }).filter({ hasText: "done" }).waitFor();
  expect(await page.locator(".tool").count()).toBe(1);
  await expectFit(page, "a session with a call");
  expectCalm(opened);
});

test("a fork begins at a message, and is a branch there; the run and the session lead to each other", async () => {
  const { service, client, say, open } = await setStage(answer("one"), answer("two"), answer("other two"));
  const sessionId = await open({ name: "tester" });
  const first = await say(sessionId, "1");
  await say(sessionId, "2");
  const opened = await openConsole(service.url, `runs/${first}`, wide);
  const { page } = opened;
  await page
    .locator(".facts")
    .getByRole("link", { name: sessionId.slice(-8) })
    .click();
  await seeText(page, "two");
  expect(new URL(page.url()).pathname).toBe(`/console/sessions/${sessionId}`);
  await page.getByRole("button", { name: "Fork after message 2" }).click();
  await seeText(page, "This is the fork");
  await seeText(page, "fork of");
  const box = page.getByLabel("Message", { exact: true });
  await box.fill("2, but better");
  await box.press("Enter");
  await seeText(page, "other two");
  const forked = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const { messages } = await client.call(listMessages, { sessionId: forked });
  expect(messages.map(({ message }) => message?.content.value)).toEqual(["1", "one", "2, but better", "other two"]);
  await page
    .locator(".inbox-head")
    .getByRole("link", { name: sessionId.slice(-8) })
    .click();
  const branch = page.getByRole("list", { name: "Forks from here" }).getByRole("link");
  await branch.filter({ hasText: forked.slice(-8) }).waitFor();
  await expectFit(page, "a session with a branch");
  await page.getByRole("link", { name: `run ${first.slice(-8)}` }).click();
  await page.waitForURL(`${service.url}/console/runs/${first}`);
  expectCalm(opened);
});

test("the files of a session are listed by directory, and saved", async () => {
  const workDir = await openFolder();
  await mkdir(join(workDir, "notes"));
  await writeFile(join(workDir, "notes/<b>plan\u202e.txt"), "First things first.");
  await writeFile(join(workDir, "README.md"), "Read me.");
  const { service, client } = await setStage();
  const { sessionId } = await client.call(createSession, { agent: { name: "keeper" }, workDir });
  const opened = await openConsole(service.url, `sessions/${sessionId}`, wide);
  const { page } = opened;
  await page.getByRole("button", { name: "Files", exact: true }).click();
  const files = page.getByRole("dialog").getByRole("list", { name: "Files" }).getByRole("button");
  await files.nth(1).waitFor();
  expect(await files.allTextContents()).toEqual(["README.md", "notes/"]);
  await expectFit(page, "the files of a session");
  await files.nth(1).click();
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "<b>plan‹U+202E›.txt" }).click(),
  ]);
  expect(await readFile(await saved.path(), "utf8")).toBe("First things first.");
  await page.reload();
  await page.getByRole("button", { name: "<b>plan‹U+202E›.txt" }).waitFor();
  await page.getByRole("button", { name: "Up" }).click();
  await page.getByRole("button", { name: "README.md" }).waitFor();
  expectCalm(opened);

  // A session without a directory says so.
  const { sessionId: bare } = await client.call(createSession, { agent: { name: "keeper" } });
  await page.goto(`${service.url}/console/sessions/${bare}?files=.`);
  await page.getByRole("dialog").getByRole("alert").waitFor();
  await expectFit(page, "a session without files");
});

test("a long conversation opens at its end, and earlier messages come when asked for", async () => {
  const { service, client, open } = await setStage();
  const sessionId = await open({ name: "talker" });
  const messages = Array.from({ length: 120 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: { case: "text" as const, value: `Message ${index + 1}.` },
  }));
  await client.call(SessionService.method.addMessages, { sessionId, messages });
  const opened = await openConsole(service.url, `sessions/${sessionId}`, wide);
  const { page } = opened;
  await page.getByText("Message 120.", { exact: true }).waitFor();
  const list = page.locator(".conversation");
  const earlier = page.getByRole("button", { name: "Earlier messages" });
  await list.focus();
  const loadEarlier = async (): Promise<void> => {
    // Rows above are measured as they come into sight, which may stop the scroll of the browser on its way. A person presses again.
    await until("the beginning of the list", async () => {
      await list.press("Home");
      return (await earlier.isVisible()) && (await earlier.isEnabled());
    });
    await earlier.click();
  };
  await loadEarlier();
  // What was in sight stays there.
  await page.getByText("Message 71.", { exact: true }).waitFor();
  await page.getByText("Message 70.", { exact: true }).waitFor();
  await list.focus();
  await loadEarlier();
  await page.getByText("Message 20.", { exact: true }).waitFor();
  await list.focus();
  await until("the first message", async () => {
    await list.press("Home");
    return await page.getByText("Message 1.", { exact: true }).isVisible();
  });
  expect(await earlier.count()).toBe(0);
  expectCalm(opened);
});

test("hostile and right-to-left texts show as they are, on a phone too, by keyboard alone", async () => {
  const hostile = "<img src=x onerror=alert(1)>\u202e [a](javascript:alert(1))";
  const { service, client, say, open } = await setStage(answer(`# Title\n\n${hostile}`), answer("مرحبا بالعالم"));
  const sessionId = await open({ name: "<b>agent</b>\u202e" });
  await client.call(SessionService.method.updateSession, { sessionId, annotations: '{"team":"<i>x</i>\u202e"}' });
  await say(sessionId, hostile);
  await say(sessionId, "مرحبا");
  const opened = await openConsole(service.url, "sessions", phone);
  const { page } = opened;
  await seeText(page, "team: <i>x</i>‹U+202E›");
  await expectFit(page, "the list of sessions on a phone");
  await page.keyboard.press("j");
  await seeText(page, "مرحبا بالعالم");
  await page.locator(".markdown", { hasText: "<img src=x onerror=alert(1)>‹U+202E›" }).first().waitFor();
  await expectFit(page, "a conversation on a phone");
  await page.keyboard.press("c");
  expect(await page.evaluate("document.activeElement.tagName")).toBe("TEXTAREA");
  await page.keyboard.type("Unsent");
  await page.reload();
  await seeText(page, "مرحبا بالعالم");
  expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe("Unsent");
  expectCalm(opened);
});

test("a refused message stays in the box with the reason, and a session of another client is not found", async () => {
  const { service, say, open } = await setStage(answer("secret"));
  const sessionId = await open({ name: "tester" });
  await say(sessionId, "hello");
  const opened = await openConsole(service.url, `sessions/${sessionId}`, wide);
  const { page } = opened;
  await seeText(page, "secret");
  const box = page.getByLabel("Message", { exact: true });
  await page.getByLabel("Model").fill("nobody:nothing");
  await box.fill("Keep me.");
  await box.press("Enter");
  await page.getByRole("alert").filter({ hasText: "The message was not sent:" }).waitFor();
  expect(await box.inputValue()).toBe("Keep me.");
  await expectFit(page, "a message that was refused");
  const other = await openConsole(service.url, `sessions/${sessionId}`, { ...wide, client: "stranger" });
  await seeText(other.page, "Not found");
  expect(await other.page.content()).not.toContain("secret");
  await expectFit(other.page, "a session that is not found");
});

test("the filters of the list live in the address, and a running run can be cancelled from its session", async () => {
  const { service, say, open, client } = await setStage(answer("fine"), (wire) => wire.hang());
  await say(await open({ name: "editor" }), "1");
  const busy = await open({ name: "critic" });
  await client.call(sendMessage, { sessionId: busy, message: "2" });
  const opened = await openConsole(service.url, "sessions", wide);
  const { page } = opened;
  const rows = page.getByRole("list", { name: "Sessions" }).getByRole("listitem");
  await until("both sessions", async () => (await rows.count()) === 2);
  await page.getByRole("checkbox", { name: "completed" }).check({ force: true });
  await until("one session", async () => (await rows.count()) === 1);
  expect(await rows.first().textContent()).toContain("editor");
  await page.reload();
  await until("one session", async () => (await rows.count()) === 1);
  await page.getByRole("checkbox", { name: "completed" }).uncheck({ force: true });
  await page.keyboard.press("Escape");
  await page.getByLabel("Agent name").fill("critic");
  await page.getByLabel("Agent name").press("Enter");
  await until("the other session", async () => (await rows.first().textContent())?.includes("critic") === true);
  await rows.first().getByRole("link").click();
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await rows.filter({ hasText: "cancelled" }).waitFor();
  expectCalm(opened);
});

test("what became of a run stands below what was asked, and a cancelled answer is found in its run", async () => {
  const { service, say, open, client } = await setStage(
    fail(400, JSON.stringify({ error: { message: "the context is too long" } })),
    hangAfter("The first words"),
    answer("The end."),
  );
  const sessionId = await open({ name: "editor" });
  await say(sessionId, "Tell a long story.");
  await client.call(sendMessage, { sessionId, message: "Tell a short one." });
  const opened = await openConsole(service.url, `sessions/${sessionId}`, wide);
  const { page } = opened;
  await seeText(page, "The first words");
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("list", { name: "Sessions" }).getByRole("listitem").filter({ hasText: "cancelled" }).waitFor();
  const box = page.getByLabel("Message", { exact: true });
  await box.fill("And then?");
  await box.press("Enter");
  await seeText(page, "The end.");
  const rows = await page.getByRole("list", { name: "Conversation" }).getByRole("listitem").allTextContents();
  const places = ["Tell a long", "is too long", "Tell a short", "Cancelled.", "And then?", "The end."].map((text) =>
    rows.findIndex((row) => row.includes(text)),
  );
  expect(places.every((place, index) => place > (places[index - 1] ?? 0))).toBe(true);
  await expectFit(page, "a session with runs that have no answer");
  await page.getByRole("link", { name: "Its run", exact: true }).click();
  await seeText(page, "The first words");
  expectCalm(opened);
});

test("pictures of a session", async () => {
  const { service, say, open } = await setStage(
    answer("Two places disagree: `docs/settings.md` says port **8090**, and `README.md` says 8080."),
    answer("I would change the README, because the service reads the settings."),
  );
  const sessionId = await open({ name: "editor" });
  await say(sessionId, "Which port does the service use?");
  await say(sessionId, "Which of the two should change?");
  await takePicture(service.url, { name: "session", path: `sessions/${sessionId}`, text: "I would change the README" });
});
