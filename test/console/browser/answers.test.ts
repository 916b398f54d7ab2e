// How the console shows what models and people write: right-to-left text, images, sounds, files, sources, and an answer of 5 MB.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { answer, type Script } from "../../fakes/provider.ts";
import { credentialsOf } from "../../harness/credentials.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeBadge, seeText } from "./console-page.ts";
import { setConsoleStage } from "./stage.ts";

async function setStage(...scripts: readonly Script[]) {
  const { service, client } = await setConsoleStage({}, ...scripts);
  const run = async (message: object): Promise<string> => {
    const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "writer" } });
    const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, ...message });
    await until("the run to end", async () => {
      // A client of gRPC takes no more than 4 MB unless it is set up for more.
      const got = await fetch(`${service.url}/v1/runs/${runId}`, { headers: credentialsOf() });
      return "end_time" in ((await got.json()) as object);
    });
    return runId;
  };
  return { service, run };
}

test("each paragraph has its own direction", async () => {
  const text = "مرحبا بالعالم (hello)\n\nEnglish text.\n\n- עברית\n- שלום\n\n| א | b |\n|---|---|\n| ג | d |";
  const { service, run } = await setStage(answer(text));
  const opened = await openConsole(service.url, `runs/${await run({ message: "שלום" })}`);
  const { page } = opened;
  await seeText(page, "English text.");
  const directions = await page.evaluate(`Array.from(
    document.querySelectorAll(".markdown :is(p, ul, th)"), (each) => getComputedStyle(each).direction)`);
  expect(directions).toEqual(["rtl", "rtl", "ltr", "rtl", "rtl", "ltr"]);
  await expectFit(page, "right-to-left text");
  expectCalm(opened);
});

test("an image of a message is shown, and what is not an image of a known format is described", async () => {
  const { service, run } = await setStage(answer("A dot."));
  const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=1"/>').toString("base64");
  const elements = [
    { type: "text", text: "What is this?" },
    { type: "image_base64", imageBase64: dot, fileName: "dot.png" },
    { type: "image_base64", imageBase64: `data:image/png;base64,${svg}`, fileName: "drawing\u202e.png" },
    { type: "image_url", imageUrl: "https://images.example/x.png" },
  ];
  const messages = [{ role: "user", content: { case: "parts", value: { elements } } }];
  const opened = await openConsole(service.url, `runs/${await run({ messages })}`);
  const { page } = opened;
  const image = page.getByRole("img", { name: "dot.png" });
  await image.waitFor();
  const width = `(async (image) => { await image.decode(); return image.naturalWidth; })(document.querySelector(".picture img"))`;
  expect(await page.evaluate(width)).toBe(1);
  await seeText(page, "[drawing‹U+202E›.png: not an image that the page shows]");
  await seeText(page, "[image_url https://images.example/x.png]");
  await expectFit(page, "a message with an image");
  // The page asks no other host for an image.
  expectCalm(opened);
});

test("a sound can be played, and any other file of a message or of a tool is saved", async () => {
  const { service, run } = await setStage(answer("A tone."));
  const elements = [
    { type: "file_base64", fileBase64: toneInBase64(), fileName: "tone.wav" },
    { type: "file_base64", fileBase64: Buffer.from("PK a table").toString("base64"), fileName: "report.xlsx" },
  ];
  const messages = [{ role: "user", content: { case: "parts", value: { elements } } }];
  const opened = await openConsole(service.url, `runs/${await run({ messages })}`);
  const { page } = opened;
  await page.locator('audio[aria-label="tone.wav"]').waitFor();
  const seconds = `(async (audio) => {
    if (audio.readyState === 0) { await new Promise((resolve) => (audio.onloadedmetadata = resolve)); }
    return audio.duration;
  })(document.querySelector("audio"))`;
  expect(await page.evaluate(seconds)).toBeCloseTo(0.1);
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "report.xlsx" }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe("report.xlsx");
  expect(await readFile(await saved.path(), "utf8")).toBe("PK a table");
  await expectFit(page, "a message with files");
  expectCalm(opened);
});

test("a PDF is shown by the browser's viewer, and can be saved; text that calls itself one is only saved", async () => {
  const { service, run } = await setStage(answer("A report."));
  const page1 = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R >>";
  const pdf = [
    "%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj",
    "2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj",
    `3 0 obj ${page1} endobj`,
    "4 0 obj << /Length 23 >> stream\n1 0 0 rg 0 0 200 100 re f\nendstream endobj",
    "trailer << /Root 1 0 R >>\n%%EOF",
  ].join("\n");
  const inBase64 = (text: string): string => Buffer.from(text).toString("base64");
  const elements = [
    { type: "file_base64", fileBase64: inBase64(pdf), fileName: "report.pdf" },
    { type: "file_base64", fileBase64: inBase64("<script>top.document.title='owned'</script>"), fileName: "page.pdf" },
  ];
  const messages = [{ role: "user", content: { case: "parts", value: { elements } } }];
  const opened = await openConsole(service.url, `runs/${await run({ messages })}`);
  const { page } = opened;
  const frames = page.locator("iframe");
  await page.getByTitle("report.pdf").waitFor();
  await page.getByRole("link", { name: "page.pdf" }).waitFor();
  expect(await frames.count()).toBe(1);
  await until("the viewer", () => page.frames().some((frame) => frame.url().startsWith("chrome-extension://")));
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "report.pdf" }).click(),
  ]);
  expect(await readFile(await saved.path(), "utf8")).toBe(pdf);
  expect(await page.title()).not.toBe("owned");
  await expectFit(page, "a message with a PDF");
  expectCalm(opened);
});

/** A tenth of a second of silence, as an uncompressed sound. */
function toneInBase64(): string {
  const samples = Buffer.alloc(800, 0x80);
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(8_000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]).toString("base64");
}

test("the sources of an answer are links that show their hosts, and a hostile one is no link", async () => {
  const cited = (url: string, title: string) => ({ type: "url_citation", url_citation: { url, title } });
  const { service, run } = await setStage((wire) => {
    wire.text("Bees sleep.");
    const annotations = [cited("https://bees.example/sleep", "On sleep"), cited("javascript:alert(1)", "Click")];
    wire.delta({ annotations });
    wire.done("stop");
  });
  const opened = await openConsole(service.url, `runs/${await run({ message: "Do bees sleep?" })}`);
  const { page } = opened;
  const sources = page.getByRole("list", { name: "Sources" });
  await sources.waitFor();
  expect(await sources.getByRole("listitem").allTextContents()).toEqual(["On sleep (bees.example)", "Click"]);
  expect(await sources.getByRole("link").evaluateAll((all) => all.map((link) => link.getAttribute("href")))).toEqual([
    "https://bees.example/sleep",
  ]);
  await expectFit(page, "an answer with sources");
  expectCalm(opened);
});

test("tasks have boxes that cannot be changed, and the columns of tables their side", async () => {
  const text = "- [x] Read\n- [ ] Write `it`\n- [link]\n\n| file | lines | state |\n|---|--:|:-:|\n| a.ts | 12 | new |";
  const { service, run } = await setStage(answer(text));
  const opened = await openConsole(service.url, `runs/${await run({ message: "Plan." })}`);
  const { page } = opened;
  await seeText(page, "Write it");
  const boxes = page.locator(".markdown").getByRole("checkbox");
  expect(await boxes.evaluateAll((all) => all.map((box) => [box.ariaLabel, box.matches(":disabled")]))).toEqual([
    ["done", true],
    ["to do", true],
  ]);
  expect(await page.getByRole("checkbox", { name: "done", checked: true }).count()).toBe(1);
  expect(await page.locator(".markdown li").allTextContents()).toEqual(["Read", "Write it", "[link]"]);
  const sides = "Array.from(document.querySelectorAll('.markdown td'), (each) => getComputedStyle(each).textAlign)";
  expect(await page.evaluate(sides)).toEqual(["start", "right", "center"]);
  await expectFit(page, "tasks and a table");
  expectCalm(opened);
});

test("a live text keeps what a person has selected in it, and has its marks as they are closed", async () => {
  const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  const { service, start } = await setConsoleStage({}, async (wire) => {
    wire.text("First.\n\nThe board *between");
    await gates[0]?.promise;
    wire.text(" them* will");
    await gates[1]?.promise;
    wire.text(" not stay.");
    await gates[2]?.promise;
    wire.text("\n\nThe end.");
    wire.finish("stop");
    wire.done();
  });
  const opened = await openConsole(service.url, `runs/${await start({})}`);
  const { page } = opened;
  await seeText(page, "The board *between");
  gates[0]?.resolve();
  await page.locator("p", { has: page.locator("em", { hasText: "between them" }) }).waitFor();
  await page.evaluate(`{
    const text = document.querySelector(".markdown em + span").firstChild;
    getSelection().setBaseAndExtent(text, 1, text, 5);
  }`);
  gates[1]?.resolve();
  await seeText(page, "will not stay.");
  expect(await page.evaluate("getSelection().toString()")).toBe("will");
  gates[2]?.resolve();
  await seeBadge(page, /^ended, complete/);
  expect(await page.locator(".said .markdown").last().innerText()).toBe(
    "First.\n\nThe board between them will not stay.\n\nThe end.",
  );
  expectCalm(opened);
});

test("code has colours once its block is closed, and hostile code stays text", async () => {
  const hostile = '<img src=x onerror="document.title=1">';
  const closed = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const { service, client } = await setConsoleStage({}, async (wire) => {
    wire.text("One:\n\n```ts\nconst answer = 42; // why\n");
    await closed.promise;
    wire.text(`\`\`\`\n\n\`\`\`html\n${hostile}\n\`\`\`\n\n\`\`\`klingon\nconst\n\`\`\``);
    await ended.promise;
    wire.finish("stop");
    wire.done();
  });
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "writer" } });
  const opened = await openConsole(service.url, "runs");
  const { page, requests } = opened;
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "Write code." });
  const row = page.getByRole("row").filter({ hasText: runId.slice(-8) });
  await row.waitFor();
  const loaded = () => requests.filter((request) => request.url().includes("/colour-")).length;
  await row.getByRole("link").click();
  const code = page.getByRole("group", { name: "ts" });
  await code.getByText("const answer = 42; // why").waitFor();
  expect([loaded(), await code.locator("[data-code]").count()]).toEqual([0, 0]);
  closed.resolve();
  await code.locator("[data-code]").first().waitFor();
  expect(await code.locator("[data-code]").allTextContents()).toEqual(["const", "42", "// why"]);
  expect(await code.textContent()).toBe("const answer = 42; // why");
  const colours =
    "new Set(Array.from(document.querySelectorAll('[aria-label=ts] [data-code]'), (each) => getComputedStyle(each).color)).size";
  expect(await page.evaluate(colours)).toBe(3);
  expect(await page.getByRole("group", { name: "html" }).textContent()).toBe(hostile);
  const unknown = page.getByRole("group", { name: "klingon" });
  await unknown.waitFor();
  expect(await unknown.locator("[data-code]").count()).toBe(0);
  expect(loaded()).toBe(1);
  ended.resolve();
  await seeBadge(page, /^ended, complete/);
  expect(await code.locator("[data-code]").count()).toBe(3);
  await expectFit(page, "an answer with code");
  expectCalm(opened);
});

test("an answer of 5 MB is shown in parts, quickly, and the page stays usable", async () => {
  const paragraph = `${"word ".repeat(200).trim()}\n\n`;
  const text = paragraph.repeat(5_000);
  const { service, run } = await setStage((wire) => {
    for (let from = 0; from < text.length; from += 100_000) {
      wire.text(text.slice(from, from + 100_000));
    }
    wire.finish("stop");
    wire.done();
  });
  const runId = await run({ message: "Write much." });
  const opened = await openConsole(service.url, "runs");
  const { page } = opened;
  await page
    .getByRole("row")
    .filter({ hasText: runId.slice(-8) })
    .waitFor();
  // A paragraph that is shown gets its end, and then it stays: the text of its log arrives behind it.
  await page.evaluate(`{
    window.rewritten = 0;
    new MutationObserver((changes) => {
      const shown = changes.filter(({ target }) => target.parentElement?.closest(".markdown p"));
      window.rewritten += shown.filter(({ target, oldValue }) => !target.data.startsWith(oldValue)).length;
    }).observe(document.querySelector("main"), { characterDataOldValue: true, subtree: true });
  }`);
  const startMs = performance.now();
  await page
    .getByRole("row")
    .filter({ hasText: runId.slice(-8) })
    .getByRole("link")
    .click();
  await page.getByRole("button", { name: /^Show 400.0k more of 5.0M characters$/ }).waitFor();
  const shownMs = performance.now() - startMs;
  // A frame of a page that works.
  const frameMs = await page.evaluate(
    "(async () => { const at = performance.now(); await new Promise(requestAnimationFrame); return performance.now() - at; })()",
  );
  expect(frameMs).toBeLessThan(1_000);
  expect(shownMs).toBeLessThan(10_000);
  expect(await page.evaluate("window.rewritten")).toBe(0);
  await page.getByRole("button", { name: /^Show 400.0k more/ }).click();
  await page.getByRole("button", { name: /^Show 400.0k more/ }).waitFor();
  await page.getByRole("tab", { name: "Entries" }).click();
  await page.locator(".entries-rows").waitFor();
  await page.evaluate('document.querySelector(".entries-rows").scrollTop = 1e9');
  await page.getByRole("listitem").filter({ hasText: "message.completed" }).getByRole("link").click();
  await page.getByRole("button", { name: /more of 5.0M characters$/ }).waitFor();
  expectCalm(opened);
});
