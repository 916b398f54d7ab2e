// Journeys through runs: started, found, compared, explained, repeated, and given to others.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { endOfRun } from "../../../conformance/stage.ts";
import { answer, callTools, hangAfter, type Script } from "../../../fakes/provider.ts";
import { fail } from "../../../fakes/wire-server.ts";
import { until } from "../../../harness/wait.ts";
import { badgeOf, seeBadge, seeText } from "../console-page.ts";
import { setConsoleStage } from "../stage.ts";
import { journey } from "./journey.ts";
import { Keyboard } from "./keyboard.ts";
import { callsOfDeadService, setMortalStage } from "./restart.ts";

/** Runs one run of an agent to its end, and returns its id. */
async function complete(
  { provider, client, start }: Awaited<ReturnType<typeof setConsoleStage>>,
  agent: object,
  message: string,
  ...scripts: readonly Script[]
): Promise<string> {
  provider.respond(...scripts);
  return (await endOfRun(client, await start(agent, { message }))).runId;
}

const rowOf = (page: Page, runId: string) => page.getByRole("row").filter({ hasText: runId.slice(-8) });

/** A narrow page has the buttons of a run behind one. */
async function openActions(page: Page): Promise<void> {
  const more = page.locator("summary", { hasText: "Facts and actions" });
  await page.locator(".run-head").waitFor();
  if (await more.isVisible()) {
    await more.click();
  }
}

journey(
  1,
  "a person starts a run by keyboard and follows it to its end, over a death of the service",
  async (start) => {
    const { url, client, kill, restart } = await setMortalStage(
      hangAfter("The board between them"),
      answer("The board between them will not stay."),
    );
    const { page } = await start(url);
    const keyboard = await Keyboard.only(page);
    await keyboard.press(page.getByRole("navigation").getByRole("link", { name: "New run" }));
    await keyboard.write(page.getByLabel("Message"), "Write it.");
    await keyboard.press(page.getByRole("button", { name: "Start the run" }));
    await seeText(page, "The board between them");
    await seeBadge(page, /^live · at \d+$/);
    await kill();
    await seeBadge(page, /^reconnecting( in \d+ s)?, nothing is lost$/);
    await page.locator(".service", { hasText: "service unreachable" }).waitFor();
    // It has tried in vain, and resumed nothing.
    await seeBadge(page, /^reconnecting in [248] s, nothing is lost$/);
    expect(await page.getByText(/^resumed/).count()).toBe(0);

    await restart();
    await seeBadge(page, /^ended, complete · at \d+$/);
    await page.locator(".service", { hasText: "service ready" }).waitFor();
    await seeText(page, "Restarted on another replica");
    expect(await page.locator(".row[data-void] del").first().textContent()).toBe("The board between them");
    const { run } = await client.call(RunService.method.getRun, { runId: page.url().split("/").at(-1) ?? "" });
    const texts = await page.locator(".row:not([data-void]) .said .markdown").allInnerTexts();
    expect(texts.map((text) => text.trim())).toEqual([run?.output]);
    expect(await badgeOf(page)).toBe(`ended, complete · at ${run?.lastSequence}`);
    await page.getByText(/^resumed \d+×$/).waitFor();
  },
  { complaints: callsOfDeadService },
);

journey(3, "a person finds a run by words and opens it at the hit, by keyboard", async (start) => {
  const stage = await setConsoleStage();
  const look =
    (text: string): Script =>
    (wire, request) => {
      wire.text(text);
      // Equal calls are a loop.
      const call = {
        id: text,
        name: "list_dir",
        arguments: JSON.stringify({ path: ".".repeat(request.body.messages.length) }),
      };
      return callTools(call)(wire, request);
    };
  const steps = Array.from({ length: 15 }, (_, index) => look(`Step ${index + 1}.`));
  const agent = { name: "birder", maxTurns: 30, tools: { builtin: ["list_dir"] } };
  const birds = look("I saw an avocet at the estuary.");
  const found = await complete(stage, agent, "Which wader?", ...steps, birds, ...steps, answer("That is all."));
  await complete(stage, { name: "other" }, "And now?", answer("Nothing."));
  await until("the text", async () => {
    const { matches } = await stage.client.call(RunService.method.searchRuns, { query: "avocet estuary" });
    return matches.length === 1;
  });
  const { page } = await start(stage.service.url);
  const keyboard = await Keyboard.only(page);
  await rowOf(page, found).waitFor();
  await keyboard.keys("/");
  await page.keyboard.type("avocet estuary");
  await keyboard.keys("Enter");
  const hits = page.getByRole("list", { name: "Found runs" }).getByRole("listitem");
  await hits.filter({ hasText: "I saw an avocet" }).waitFor();
  await keyboard.press(hits.getByRole("link"));
  await page.waitForURL((address) => address.pathname === `/console/runs/${found}`);
  await page.locator(".row[data-chosen]", { hasText: "I saw an avocet at the estuary." }).waitFor();
  const place = `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(
    document.querySelector(".row[data-chosen]").getBoundingClientRect())`;
  await until("the hit in sight", () => page.evaluate<boolean>(place));
});

journey(4, "a person compares two runs and forks one of them", async (start) => {
  const stage = await setConsoleStage();
  const one = await complete(stage, { name: "writer" }, "Greet the world.", answer("Hello big world."));
  const other = await complete(stage, { name: "writer" }, "Greet the moon.", answer("Hello small moon."));
  const { page } = await start(stage.service.url);
  for (const runId of [one, other]) {
    await page.getByRole("checkbox", { name: `Mark ${runId.slice(-8)}` }).check();
  }
  await page.getByRole("link", { name: "Compare the two" }).click();
  const text = page.getByRole("region", { name: "Text: different" });
  await text.waitFor();
  expect((await text.locator("ins").allTextContents()).join(" ")).toContain("small");
  await page
    .getByRole("main")
    .getByRole("link", { name: other.slice(-8) })
    .first()
    .click();
  await openActions(page);
  await page.getByRole("link", { name: "Fork", exact: true }).click();
  await page.getByLabel("Message").fill("Now the sun.");
  stage.provider.respond(answer("Hello hot sun."));
  await page.getByRole("button", { name: "Start and compare" }).click();
  await page.getByRole("region", { name: "Text: different" }).locator("ins", { hasText: "sun" }).waitFor();
  const { run } = await stage.client.call(RunService.method.getRun, {
    runId: new URL(page.url()).searchParams.get("b") ?? "",
  });
  const { session } = await stage.client.call(SessionService.method.getSession, { sessionId: run?.sessionId ?? "" });
  expect(session?.fork?.sessionId).not.toBe("");
});

journey(7, "a person finds out why runs failed, from a plot to its runs", async (start) => {
  const stage = await setConsoleStage();
  await complete(stage, { name: "triage" }, "Sort.", answer("Sorted."));
  const broken = fail(400, JSON.stringify({ error: { message: "the context is too long" } }));
  const failed = await complete(stage, { name: "reviewer" }, "Review.", broken);
  const { page } = await start(stage.service.url);
  await page.getByRole("navigation").getByRole("link", { name: "Plots" }).click();
  await page.getByRole("radio", { name: "last 1h" }).check({ force: true });
  const slider = page.getByRole("slider", { name: "Runs that failed" });
  await slider.focus();
  await page.keyboard.press("End");
  // The last period may have begun after the failure.
  await until("the failure", async () => {
    const isThere = (await slider.getAttribute("aria-valuetext"))?.endsWith(": 1") === true;
    await page.keyboard.press(isThere ? "Shift" : "ArrowLeft");
    return isThere;
  });
  await page.keyboard.press("Enter");
  await rowOf(page, failed).waitFor();
  expect(await page.getByRole("row").filter({ hasText: "triage" }).count()).toBe(0);
  await rowOf(page, failed).getByRole("link").click();
  await page.locator(".run-error", { hasText: "the context is too long" }).waitFor();
});

journey(8, "a person repeats recorded runs with another model, marks one and exports the table", async (start) => {
  const stage = await setConsoleStage();
  const agent = { name: "birder" };
  const first = await complete(stage, agent, "Which wader?", answer("An avocet."));
  const second = await complete(stage, agent, "Which diver?", answer("A gannet."));
  const { page } = await start(stage.service.url);
  for (const runId of [first, second]) {
    await page.getByRole("checkbox", { name: `Mark ${runId.slice(-8)}` }).check();
  }
  await page.getByRole("link", { name: "Evaluate 2" }).click();
  await page.getByLabel("Model").fill("gpt-4o");
  stage.provider.respond(answer("A stilt."), answer("A tern."));
  await page.getByRole("button", { name: "Repeat 2 runs" }).click();
  await seeText(page, "2 of 2");
  await seeText(page, "A tern.");
  const mark = page.getByLabel(`Mark of the repetition of ${first.slice(-8)}`);
  await mark.selectOption("worse");
  await mark.and(page.locator(":enabled")).waitFor();
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export JSON" }).click(),
  ]);
  expect(JSON.parse(await readFile(await saved.path(), "utf8"))).toMatchObject({
    model: "gpt-4o",
    runs: [
      { original: { run_id: first, output: "An avocet." }, repetition: { state: "completed" }, mark: "worse" },
      { original: { run_id: second, output: "A gannet." }, repetition: { state: "completed" } },
    ],
  });
});

journey(12, "a person exports a run, and shares it with a reader who has no key", async (start) => {
  const stage = await setConsoleStage();
  const runId = await complete(stage, { name: "poet" }, "Write it.", answer("The board will not stay."));
  const { page } = await start(stage.service.url, { permissions: ["clipboard-read", "clipboard-write"] });
  await rowOf(page, runId).getByRole("link").click();
  await openActions(page);
  await page.getByRole("button", { name: "Export" }).click();
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("dialog").getByRole("button", { name: "Markdown" }).click(),
  ]);
  expect(await readFile(await saved.path(), "utf8")).toContain("The board will not stay.");
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Copy", exact: true }).click();
  await seeText(page, "Copied");
  const link = await page.evaluate<string>("navigator.clipboard.readText()");
  const reader = await start(stage.service.url, { link, client: null });
  await seeText(reader.page, "The board will not stay.");
  await seeBadge(reader.page, /^ended, complete/);
  expect(await reader.page.getByRole("navigation").count()).toBe(0);
});
