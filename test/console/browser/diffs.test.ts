// Changes of files in the console: those of coding agents and of the built-in tools, in the run and in the approval.

import { expect, test } from "vitest";
import { readCodingAgents } from "../../../src/protocols/acp/agents.ts";
import { lineOf, openSession, send } from "../../acp/stage.ts";
import { answer, callTools } from "../../fakes/provider.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { Area } from "../../tools/area.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";
import { setConsoleStage } from "./stage.ts";

test("the change of a coding agent is a diff, in the approval and in the run", async () => {
  using area = new Area();
  area.giveToSession();
  const acpAgents = readCodingAgents(lineOf("coder")) ?? [];
  const service = await startService({ acpAgents, consoleEnabled: true });
  const client = new GrpcClient(service.target);
  const sessionId = await openSession(client, { name: "fake", runner: "coder" }, area.root);
  const opened = await openConsole(service.url, `runs/${await send(client, sessionId, "edit")}`);
  const { page } = opened;
  const change = page.getByRole("group", { name: "a.txt: 1 added, 1 removed" });
  // The whole request stays below it: the decision is about each byte of it.
  await change.waitFor();
  await seeText(page, '"old_text": "old"');
  await page.getByRole("button", { name: "Approve" }).click();
  await change.nth(1).waitFor();
  expect(await change.nth(1).getByRole("deletion").allTextContents()).toEqual(["-old\n"]);
  expect(await change.nth(1).getByRole("insertion").allTextContents()).toEqual(["+new\n"]);
  await expectFit(page, "a run with a diff");
  expectCalm(opened);
});

test("the changes of the built-in tools are diffs; hostile text stays text in its line, and a long one is folded", async () => {
  const { provider, service, start } = await setConsoleStage();
  const hostile = '<img src=x onerror="document.title=1"> \u202egpj.exe';
  const arabic = "هذا سطر طويل - مع علامة";
  const long = Array.from({ length: 3_000 }, (_, index) => `line ${index}`).join("\n");
  const call = (id: string, name: string, args: object) => ({ id, name, arguments: JSON.stringify(args) });
  provider.respond(
    callTools(
      call("one", "edit_file", {
        file_path: "a\u202e.txt",
        old_string: `same\n${hostile}`,
        new_string: `same\n${arabic}`,
      }),
      call("two", "write_file", { file_path: "long.txt", content: long }),
      call("three", "write_file", { file_path: "main.ts", content: "/* a\nb */ const x = 1;\r\n" }),
    ),
    answer("Done."),
  );
  const runId = await start({ tools: { builtin: ["edit_file", "write_file"] } });
  const opened = await openConsole(service.url, `runs/${runId}`);
  const { page } = opened;
  await seeText(page, "Done.");
  // The second line begins within a comment.
  const written = page.getByRole("group", { name: "main.ts, new content: 2 added, 0 removed" });
  await written.locator("[data-code]").first().waitFor();
  expect(await written.locator("ins").allTextContents()).toEqual(["+/* a\n", "+b */ const x = 1;␍\n"]);
  expect(await written.locator("[data-code]").allTextContents()).toEqual(["/* a", "b */", "const", "1"]);
  const edit = page.getByRole("group", { name: "a‹U+202E›.txt: 1 added, 1 removed" });
  expect(await edit.getByRole("deletion").textContent()).toBe(
    '-<img src=x onerror="document.title=1"> ‹U+202E›gpj.exe\n',
  );
  // The sign stays at the left, and the text runs from the right.
  const places = await page.evaluate(`(() => {
    const [sign, text] = document.querySelector("ins.diff-line").children;
    return [sign.getBoundingClientRect().left < text.getBoundingClientRect().left, getComputedStyle(text).direction];
  })()`);
  expect(places).toEqual([true, "rtl"]);

  const file = page.getByRole("group", { name: "long.txt, new content: 3,000 added, 0 removed" });
  await file.waitFor();
  expect(await file.locator("ins").count()).toBe(40);
  await expectFit(page, "a run with a long diff");
  await page.getByRole("button", { name: "Show 1,000 more of 3,000 lines" }).click();
  await page.getByRole("button", { name: "Show 1,000 more of 3,000 lines" }).waitFor();
  expect(await file.locator("ins").count()).toBe(1_040);
  expectCalm(opened);
});
