// The recipe of a chat in a browser, installed as its users do, in Chromium, while the service dies in mid-sentence.

import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { repositoryRoot, runCommand } from "../../scripts/run-command.ts";
import { openFolder } from "../fixtures.ts";
import { keyOf } from "../harness/credentials.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { until } from "../harness/wait.ts";
import { recipesFolder } from "../recipes/stage.ts";
import { newPage } from "./browser.ts";
import { startMortalService, wholeText } from "./clients/killed-service.ts";
import { startProgram } from "./program.ts";

/** The client is compiled and installed first. */
vi.setConfig({ testTimeout: 300_000 });

test("a page shows the whole answer once although the service is killed, and has no key", async () => {
  const folder = await openFolder();
  await cp(join(recipesFolder, "browser-chat"), folder, { recursive: true });
  const client = join(repositoryRoot, "clients/typescript");
  const tarball = await runCommand("npm", ["pack", client, "--silent", "--pack-destination", folder]);
  await runCommand("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", join(folder, tarball.trim())]);
  await symlink(join(repositoryRoot, "node_modules/rolldown"), join(folder, "node_modules/rolldown"));

  const [port = 0] = await findFreePorts(1);
  const origin = `http://127.0.0.1:${port}`;
  const service = await startMortalService({ RUNNEL_SERVER_CORS_ORIGINS: origin });
  const server = startProgram(process.execPath, [join(folder, "server.ts")], {
    directory: folder,
    environment: { RUNNEL_URL: service.url, RUNNEL_API_KEY: keyOf(), PORT: `${port}` },
  });
  await until("the server to listen", () => server.stdout().includes(origin));

  const page = await newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  const sent: string[] = [];
  page.on("request", (request) => sent.push(JSON.stringify([request.headers(), request.postData()])));
  await page.goto(origin);
  await page.getByRole("textbox", { name: "Message" }).fill("Hi");
  await page.keyboard.press("Enter");
  const shown = async () => {
    expect(faults, server.stderr()).toEqual([]);
    return await page.locator("p.agent").innerText();
  };
  await service.killWhen("text on the page", async () => (await shown()).startsWith("A whole"));
  await until("the whole answer", async () => (await shown()) === wholeText);
  expect(sent.filter((request) => request.includes(keyOf()))).toEqual([]);
});
