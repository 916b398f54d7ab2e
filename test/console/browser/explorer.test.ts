// The explorer of the API: Swagger UI over the service's own document, under the console's policy.

import { expect, test } from "vitest";
import { keyOf } from "../../harness/credentials.ts";
import { startService } from "../../harness/service.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";

/** Swagger UI has white text on pale colours, links within buttons, a list of servers without a name, and links closer than 24 px. */
const known = ["color-contrast", "nested-interactive", "select-name", "target-size"];

test("the explorer shows and calls the API, links streams to the console, and asks only its service", async () => {
  const { url } = await startService({ consoleEnabled: true, rateLimitRps: 0 });
  const opened = await openConsole(url, "../docs");
  const { page } = opened;
  expect(page.url()).toBe(`${url}/docs/`);
  await page.locator(".opblock").first().waitFor();
  await expectFit(page, "explorer", known);

  await page.getByRole("button", { name: "Authorize" }).first().click();
  const keys = page.locator(".auth-container", { hasText: "An API key of a client." });
  await keys.getByRole("textbox").fill(keyOf());
  await keys.getByRole("button", { name: "Apply credentials" }).click();
  await page.locator(".modal-ux .close-modal").click();
  // Of so many operations Swagger UI keeps those in sight in the document; the filter leaves those of a service.
  const filter = page.getByPlaceholder("Filter by tag");
  await filter.fill("SystemService");
  const usage = page.locator(".opblock", { has: page.locator('[data-path="/v1/usage"]') });
  await usage.locator("button.opblock-summary-control").click();
  await usage.getByRole("button", { name: "Try it out" }).click();
  await usage.getByRole("button", { name: "Execute" }).click();
  await usage.locator(".live-responses-table .response-col_status", { hasText: "200" }).waitFor();
  expect(await usage.getByText("The console shows streams live.").count()).toBe(0);

  await filter.fill("SessionService");
  const stream = page.locator(".opblock", { has: page.locator('[data-path="/v1/sessions/{session_id}/stream"]') });
  await stream.locator("button.opblock-summary-control").click();
  await stream.getByRole("link", { name: "The console shows streams live." }).click();
  await seeText(page, "No runs yet");
  expectCalm(opened);
});
