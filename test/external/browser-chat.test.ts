// The recipe of a chat in a browser, with the packages as its users install them, in Chromium, while the service dies in mid-sentence.

import { cp } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { repositoryRoot, runCommand } from "../../scripts/run-command.ts";
import { answer } from "../fakes/provider.ts";
import { openFolder } from "../fixtures.ts";
import { keyOf } from "../harness/credentials.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { until } from "../harness/wait.ts";
import { recipesFolder } from "../recipes/stage.ts";
import { newPage } from "./browser.ts";
import { startMortalService, wholeText } from "./clients/killed-service.ts";
import { startProgram } from "./program.ts";

/** The packages are compiled and installed first. */
vi.setConfig({ testTimeout: 300_000 });

test("a page shows the whole answer once although the service is killed, and has no key", async () => {
  const folder = await openFolder();
  await cp(join(recipesFolder, "browser-chat"), folder, { recursive: true });
  const packages = ["chat", "typescript"].map((name) => join(repositoryRoot, "clients", name));
  const packed = await runCommand("npm", ["pack", ...packages, "--silent", "--pack-destination", folder]);
  const tarballs = packed.trim().split("\n");
  await runCommand("npm", [
    "install",
    "--prefix",
    folder,
    "--no-audit",
    "--no-fund",
    ...tarballs.map((each) => join(folder, each)),
  ]);

  const [port = 0] = await findFreePorts(1);
  const origin = `http://127.0.0.1:${port}`;
  const service = await startMortalService({ RUNNEL_SERVER_CORS_ORIGINS: origin }, answer("Said again."));
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
    return await page.getByRole("article", { name: "Answer" }).last().innerText();
  };
  await service.killWhen("text on the page", async () => (await shown()).startsWith("A whole"));
  await until("the whole answer", async () => (await shown()) === wholeText);
  await page.getByRole("textbox", { name: "Message" }).fill("Again");
  await page.getByRole("button", { name: "Send" }).click();
  await until("the second answer", async () => (await shown()) === "Said again.");
  expect(await page.getByRole("article").allInnerTexts()).toEqual(["Hi", wholeText, "Again", "Said again."]);
  expect(sent.filter((request) => request.includes(keyOf()))).toEqual([]);
});
