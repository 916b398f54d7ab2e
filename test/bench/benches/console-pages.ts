// What a person at the console waits for, in headless Chromium.

import { setTimeout as delay } from "node:timers/promises";
import { type Browser, chromium, type Page } from "playwright-core";
import { buildConsole } from "../../../scripts/build-console.ts";
import type { Bench, Variant } from "../bench.ts";
import { HttpClient } from "../clients/http-client.ts";
import { benchKey } from "../harness/credentials.ts";
import { growHome } from "../harness/grown-home.ts";
import { percentile } from "../harness/load.ts";
import type { Service } from "../harness/service.ts";
import { storeRunOfNewSession } from "../harness/stored-run.ts";
import { agent } from "./agent-run.ts";

const rows = 1_000_000;
const rowsQuick = 100_000;
const entries = 20_000;
const piecesPerSecond = 200;
const watchedSeconds = 60;
const entriesOfMinute = piecesPerSecond * 60;
const entriesOfHour = entriesOfMinute * 60;
const entriesOfHourQuick = entriesOfMinute * 6;
/** Paragraphs of 4,000 characters. */
const largeAnswer = "deltas=1250 long=1000";
const waitMaxMs = 60_000;

export const consolePages: Bench = {
  name: "console",
  title: `The console in Chromium: a list of ${rows.toLocaleString("en-US")} runs, a run of ${entries.toLocaleString("en-US")} entries, an answer of 5 MB, a run that streams`,
  notMeasured: "a network, a screen, a cold browser; a watch of hours, whose entries come in a minute here.",
  roundsMax: 3,
  async *measure(stage) {
    await buildConsole();
    await using home = await stage.openHome();
    // The first service makes the tables.
    await (await stage.startService("console-first", { home }))[Symbol.asyncDispose]();
    await growHome(home, stage.quick ? rowsQuick : rows);
    await using service = await stage.startService("console", { home, console: true, keepsRows: true });
    const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium" });
    try {
      const longRun = await storeRunOfNewSession(home, service, entries);
      const minute = await storeRunOfNewSession(home, service, entriesOfMinute);
      const hourLength = stage.quick ? entriesOfHourQuick : entriesOfHour;
      const halfHour = await storeRunOfNewSession(home, service, hourLength / 2);
      const hour = await storeRunOfNewSession(home, service, hourLength);
      using http = new HttpClient(service.url);
      const largeRun = await startRun(http, largeAnswer);
      await untilEnded(http, largeRun);
      for (;;) {
        yield [
          describe("a list of runs", await timeList(browser, service)),
          describe("a run opened at its middle", await timeEntry(browser, service, longRun)),
          describe("an answer of 5 MB", await timeAnswer(browser, service, largeRun)),
          describe(`a run that streams ${piecesPerSecond} pieces/s`, await watchRun(browser, service, http)),
          describe(
            `the entries of an hour at ${piecesPerSecond} pieces/s`,
            await weighLogs(browser, service, { minute, halfHour, hour }),
          ),
        ];
      }
    } finally {
      await browser.close();
    }
  },
};

function describe(name: string, metrics: Variant["metrics"]): Variant {
  return { name, metrics, faults: [] };
}

async function timeList(browser: Browser, service: Service): Promise<Variant["metrics"]> {
  await using opened = await openPage(browser, service, "runs");
  return { "shown after, ms": await msUntil(opened.page, 'document.querySelectorAll("[role=row]").length > 5') };
}

async function timeEntry(browser: Browser, service: Service, runId: string): Promise<Variant["metrics"]> {
  await using opened = await openPage(browser, service, `runs/${runId}?tab=entries&seq=${entries / 2}`);
  const row = `document.querySelector('[data-index="${entries / 2 - 1}"]')`;
  return { "shown after, ms": await msUntil(opened.page, `${row} !== null`) };
}

/** From the click on the run in a list that is open. */
async function timeAnswer(browser: Browser, service: Service, runId: string): Promise<Variant["metrics"]> {
  await using opened = await openPage(browser, service, "runs");
  const link = opened.page
    .getByRole("row")
    .filter({ hasText: runId.slice(-8) })
    .getByRole("link")
    .first();
  await link.waitFor();
  const startedMs = await link.evaluate((element) => {
    const now = performance.now();
    (element as unknown as { click: () => void }).click();
    return now;
  });
  const more =
    '[...document.querySelectorAll("button")].some((each) => each.textContent.endsWith("more of 5.0M characters"))';
  return { "shown after, ms": (await msUntil(opened.page, more)) - startedMs };
}

async function weighLogs(
  browser: Browser,
  service: Service,
  runs: { readonly minute: string; readonly halfHour: string; readonly hour: string },
): Promise<Variant["metrics"]> {
  const [minuteMb, halfHourMb, hourMb] = [
    await weighLog(browser, service, runs.minute),
    await weighLog(browser, service, runs.halfHour),
    await weighLog(browser, service, runs.hour),
  ];
  return {
    "memory after a minute, MB": minuteMb,
    "memory after an hour, MB": hourMb,
    "its growth in the last half, MB": hourMb - halfHourMb,
  };
}

/** Returns the memory of the page that has read a log. The text of its message is a part of it. */
async function weighLog(browser: Browser, service: Service, runId: string): Promise<number> {
  await using opened = await openPage(browser, service, `runs/${runId}?tab=entries`);
  const badge = opened.page.locator("main .badge-text").filter({ hasText: /^ended, complete/ });
  await badge.first().waitFor({ timeout: 5 * waitMaxMs });
  return await readHeapMb(opened.page);
}

/** With the memory of typed arrays, which is not in the heap. */
async function readHeapMb(page: Page): Promise<number> {
  const tools = await page.context().newCDPSession(page);
  await tools.send("HeapProfiler.collectGarbage");
  const { usedSize, backingStorageSize } = await tools.send("Runtime.getHeapUsage");
  return (usedSize + backingStorageSize) / 1e6;
}

async function watchRun(browser: Browser, service: Service, http: HttpClient): Promise<Variant["metrics"]> {
  const runId = await startRun(
    http,
    `deltas=${piecesPerSecond * (watchedSeconds + 30)} gap=${1_000 / piecesPerSecond}`,
  );
  await using opened = await openPage(browser, service, `runs/${runId}`);
  const { page } = opened;
  await page.locator("main .badge-text").filter({ hasText: /^live/ }).first().waitFor();
  const firstHeapMb = await readHeapMb(page);
  const gaps = await gapsOfFrames(page);
  const halfHeapMb = await readHeapMb(page);
  gaps.push(...(await gapsOfFrames(page)));
  const lastHeapMb = await readHeapMb(page);
  await http.send("POST", `/v1/runs/${runId}/cancel`, {});
  return {
    "frames a second": gaps.length / watchedSeconds,
    "frame p99, ms": percentile(gaps, 0.99),
    "memory after a second, MB": firstHeapMb,
    [`memory grown in ${watchedSeconds} s, MB`]: lastHeapMb - firstHeapMb,
    "its growth in the last half, MB": lastHeapMb - halfHeapMb,
  };
}

/** Returns the time between frames, in milliseconds, over half of the watch. */
async function gapsOfFrames(page: Page): Promise<number[]> {
  return await page.evaluate<number[]>(`(async () => {
    const gaps = [];
    const end = performance.now() + ${watchedSeconds * 500};
    for (let last = performance.now(); last < end; ) {
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      gaps.push(now - last);
      last = now;
    }
    return gaps;
  })()`);
}

async function openPage(browser: Browser, { url }: Service, path: string): Promise<AsyncDisposable & { page: Page }> {
  const context = await browser.newContext();
  await context.addInitScript((key) => sessionStorage.setItem("runnel.api-key", key), benchKey);
  const page = await context.newPage();
  page.setDefaultTimeout(waitMaxMs);
  await page.goto(`${url}/console/${path}`, { waitUntil: "commit" });
  return { page, [Symbol.asyncDispose]: () => context.close() };
}

/**
 * Returns the time from the request for the page to the first frame in which a script is true. Playwright itself looks less and
 * less often: it would add up to half a second.
 */
async function msUntil(page: Page, isShown: string): Promise<number> {
  return await page.evaluate<number>(`new Promise((resolve) => {
    const look = () => (${isShown} ? resolve(performance.now()) : requestAnimationFrame(look));
    look();
  })`);
}

async function startRun(http: HttpClient, message: string): Promise<string> {
  const { session_id: sessionId } = await call(http, "POST", "/v1/sessions", { agent });
  const { run_id: runId } = await call(http, "POST", `/v1/sessions/${sessionId}/messages`, { message });
  return String(runId);
}

async function untilEnded(http: HttpClient, runId: string): Promise<void> {
  while (!("end_time" in (await call(http, "GET", `/v1/runs/${runId}`)))) {
    await delay(100);
  }
}

async function call(
  http: HttpClient,
  method: "GET" | "POST",
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const { status, text } = await http.send(method, path, body);
  if (status >= 300) {
    throw new Error(`${path}: ${status} ${text}`);
  }
  return JSON.parse(text);
}
