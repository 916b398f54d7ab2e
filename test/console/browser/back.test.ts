// Back from a run: the list is where it was, with the focus on the row that led to the run.

import { expect, test } from "vitest";
import { endOfRun } from "../../conformance/stage.ts";
import { answer } from "../../fakes/provider.ts";
import { query } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";
import { setConsoleStage } from "./stage.ts";

test("Back leads to the same rows and the same focus, by mouse and by keyboard", async () => {
  const { service, client, start } = await setConsoleStage({}, answer("Said."));
  await endOfRun(client, await start({}));
  // As many runs as a person scrolls through, each with a log of its own to show.
  await query(
    service.databaseUrl,
    `insert into run (id, client, session, driver, input, status, epoch, deadline, terminal, model, agent_name, create_time, start_time,
       end_time)
     select gen_random_uuid(), client, session, driver, input, status, epoch, deadline, terminal, model, agent_name, create_time,
       start_time, end_time from run, generate_series(1, 90)`,
  );
  const opened = await openConsole(service.url, "runs", { viewport: { width: 1280, height: 720 } });
  const { page } = opened;
  await page.getByRole("row").nth(5).waitFor();
  const top = async (): Promise<number> =>
    Number(await page.evaluate('document.querySelector(".table-body").scrollTop'));
  await page.evaluate('document.querySelector(".table-body").scrollTop = 2000');
  const inSight = async (): Promise<string> =>
    String(
      await page.evaluate(`Array.from(document.querySelectorAll(".row-link")).find((each) =>
        each.getBoundingClientRect().top > 400)?.getAttribute("href")`),
    );
  await until("the rows in sight", async () => (await inSight()).startsWith("/console/runs/"));
  const href = await inSight();
  await page.locator(`[href="${href}"]`).click();
  await seeText(page, "Run again");
  expect(await page.evaluate("document.activeElement.id")).toBe("main");
  await page.goBack();
  await page.locator(`[href="${href}"]:focus`).waitFor();
  expect(await top()).toBe(2000);

  await page.keyboard.press("j");
  await page.locator(`.row-link:focus:not([href="${href}"])`).waitFor();
  const next = await page.locator(".row-link:focus").getAttribute("href");
  await page.keyboard.press("Enter");
  await seeText(page, "Run again");
  await page.goBack();
  await page.locator(`[href="${next}"]:focus`).waitFor();
  expect(await top()).toBe(2000);

  // A way that is not Back begins at the top.
  await page.locator(`[href="${next}"]`).press("Enter");
  await seeText(page, "Run again");
  await page.getByRole("navigation").getByRole("link", { name: "Runs" }).click();
  await page.getByRole("row").nth(5).waitFor();
  expect(await top()).toBe(0);
  expectCalm(opened);
});
