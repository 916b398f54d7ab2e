// The commands that empty views show, run as they stand there: each answers with what the view then has.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { answer } from "../../fakes/provider.ts";
import { enterAdminToken, openConsole, seeText } from "./console-page.ts";
import { setConsoleStage } from "./stage.ts";

const run = promisify(execFile);
const adminToken = "token-of-the-operator-for-tests";

test.each([
  ["runs", /"run_id":/, "completed"],
  ["approvals", /"run_id":/, "list_dir"],
  ["callbacks", /"session_id":/, "created"],
  ["runners", /"runner_id":/, "Greeter"],
  ["memory", /"version":/, "style"],
  ["memory?agent=it's", /"version":/, "style"],
  ["usage", /"days":/, "1"],
  ["forum", /"slug":"home"/, "Home"],
] as const)("the lines of %s work as they stand there", async (path, told, shown) => {
  // As `runnel dev` starts: without keys. The forum's lines have the token of the operator.
  // The page says that its callback to this machine needs it.
  const access = path === "forum" ? { authAdminToken: adminToken } : { authApiKeys: [] };
  const { service } = await setConsoleStage({ ...access, securityAllowPrivateNetworks: true }, answer("Hello."));
  const { page } = await openConsole(service.url, path, path === "forum" ? {} : { client: null });
  if (path === "forum") {
    await enterAdminToken(page, adminToken);
  }
  const block = page.getByRole("group", { name: "paste into a terminal" });
  await block.first().waitFor();
  for (const lines of await block.allTextContents()) {
    const environment = { ...process.env, RUNNEL_ADMIN_TOKEN: adminToken };
    const { stdout } = await run("bash", ["-euo", "pipefail", "-c", lines], { env: environment });
    expect(stdout).toMatch(told);
  }
  await page.reload();
  if (path === "forum") {
    await enterAdminToken(page, adminToken);
  }
  await seeText(page, shown);
});
