// Journeys through conversations: what a person decides, asks and answers.

import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { answer, callTools, hangAfter, type Script } from "../../../fakes/provider.ts";
import { defaultClientId } from "../../../harness/credentials.ts";
import { GrpcClient } from "../../../harness/grpc.ts";
import { until } from "../../../harness/wait.ts";
import { seeBadge, seeText } from "../console-page.ts";
import { setConsoleStage } from "../stage.ts";
import { journey } from "./journey.ts";
import { Keyboard } from "./keyboard.ts";
import { callsOfDeadService, setMortalStage } from "./restart.ts";

const careful = { name: "careful", tools: { builtin: ["write_file"], approve: ["write_file"] } };
const write = (path: string): Script =>
  callTools({ id: "one", name: "write_file", arguments: JSON.stringify({ file_path: path, content: "new" }) });

/** An image of one dot. */
const dot = {
  name: "dot.png",
  mimeType: "image/png",
  buffer: Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
    "base64",
  ),
};

journey(2, "a person approves two waiting calls at once, by keyboard", async (start) => {
  const { provider, service, start: startRun } = await setConsoleStage();
  provider.respond(write("one.txt"), write("two.txt"), answer("Written."), answer("Written."));
  await startRun(careful);
  await startRun(careful);
  const { page } = await start(service.url);
  const keyboard = await Keyboard.only(page);
  await page.getByRole("navigation").getByText("2 waiting").waitFor();
  await keyboard.press(page.getByRole("navigation").getByRole("link", { name: "Approvals" }));
  await keyboard.press(page.getByRole("button", { name: "Decide about 2 …" }));
  const dialog = page.getByRole("dialog");
  for (const path of ["one.txt", "two.txt"]) {
    await dialog.getByRole("listitem").filter({ hasText: path }).waitFor();
  }
  await keyboard.press(dialog.getByRole("button", { name: "Approve 2" }));
  await seeText(page, "Approved: 2.");
  await keyboard.press(page.getByRole("navigation").getByRole("link", { name: "Runs", exact: true }));
  const done = page.getByRole("row").filter({ hasText: "completed" }).filter({ hasText: "Written." });
  await until("both runs to end", async () => (await done.count()) === 2);
});

journey(
  5,
  "a person chats with a file and a model of their choice by keyboard, over a death of the service",
  async (start) => {
    const { provider, url, kill, restart } = await setMortalStage(
      hangAfter("A dot, and"),
      answer("A dot, and nothing else."),
      answer("It is red."),
    );
    const { page } = await start(url);
    const keyboard = await Keyboard.only(page);
    await keyboard.press(page.getByRole("navigation").getByRole("link", { name: "Sessions" }));
    await keyboard.press(page.getByRole("main").getByRole("link", { name: "New session" }).first());
    const chosen = page.waitForEvent("filechooser");
    await keyboard.press(page.getByLabel("Add files"));
    await (await chosen).setFiles(dot);
    await page.getByRole("list", { name: "Chosen files" }).getByRole("img", { name: "dot.png" }).waitFor();
    await keyboard.write(page.getByLabel("Model"), "gpt-4o");
    const box = page.getByLabel("Message", { exact: true });
    await keyboard.write(box, "What is it?");
    await keyboard.keys("Enter");
    await seeText(page, "A dot, and");
    await keyboard.write(box, "And its colour?");
    await kill();
    await page.locator(".session .badge-text", { hasText: /^reconnecting/ }).waitFor();

    await restart();
    await page.locator(".said", { hasText: "A dot, and nothing else." }).waitFor();
    await page.locator(".session .badge-text", { hasText: /^ended, complete/ }).waitFor();
    expect(await box.inputValue()).toBe("And its colour?");
    await keyboard.reach(box);
    await keyboard.keys("Enter");
    await seeText(page, "It is red.");
    expect(await page.getByRole("list", { name: "Conversation" }).getByRole("img", { name: "dot.png" }).count()).toBe(
      1,
    );
    expect(provider.requests[0]?.body.model).toBe("gpt-4o");
    expect(JSON.stringify(provider.requests[0]?.body.messages)).toContain(dot.buffer.toString("base64"));
  },
  { complaints: callsOfDeadService },
);

const authAdminToken = "the-admin-token-of-these-tests";
const shortLifeMs = 4_000;

/** Enters a key in the open dialog. Returns false when the key has expired before. */
async function enterKey(page: Page, key: string): Promise<boolean> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("API key").fill(key);
  await dialog.getByRole("button", { name: "Use this key" }).click();
  return await until("the key to be tried", async () => {
    const isClosed = (await dialog.count()) === 0;
    // The dialog is there again when the key expires right after it was taken.
    const isAskedAgain =
      (await dialog
        .getByLabel("API key")
        .inputValue({ timeout: 1_000 })
        .catch(() => key)) === "";
    const isRefused = (await dialog.getByRole("alert").count()) > 0;
    return isClosed || isAskedAgain ? { isTaken: true } : isRefused && { isTaken: false };
  }).then(({ isTaken }) => isTaken);
}

journey(
  6,
  "a person answers an approval in the chat, with a new key after theirs has expired",
  async (start) => {
    const { provider, service, client } = await setConsoleStage({ authAdminToken });
    const admin = new GrpcClient(service.target, { authorization: `Bearer ${authAdminToken}` });
    const makeKey = async (expireTime?: Timestamp): Promise<string> =>
      (await admin.call(AuthService.method.createApiKey, { clientId: defaultClientId, expireTime })).key;
    const { sessionId } = await client.call(SessionService.method.createSession, { agent: careful });
    provider.respond(write("one.txt"), answer("Written."), answer("You are welcome."));
    await client.call(SessionService.method.sendMessage, { sessionId, message: "Write it." });

    const { page } = await start(service.url, { client: null });
    expect(await enterKey(page, await makeKey())).toBe(true);
    await page.getByRole("navigation").getByRole("link", { name: "Sessions" }).click();
    await page.getByRole("list", { name: "Sessions" }).getByRole("link").click();
    await seeText(page, "Approval asked: write_file");
    const box = page.getByLabel("Message", { exact: true });
    await box.fill("Thank you.");
    await page.getByRole("button", { name: "Credentials" }).click();
    // A machine that is too slow for the life of a key gets one that lives longer.
    for (let lifeMs = shortLifeMs; ; lifeMs *= 2) {
      if (await enterKey(page, await makeKey(timestampFromMs(Date.now() + lifeMs)))) {
        break;
      }
    }
    const refused = page.getByRole("dialog", { name: "The service refuses your API key" });
    await refused.getByText("The key has expired.").waitFor();
    await seeText(page, "Approval asked: write_file");
    expect(await enterKey(page, await makeKey())).toBe(true);
    expect(await box.inputValue()).toBe("Thank you.");
    await page.getByRole("button", { name: "Approve" }).click();
    await seeText(page, "Written.");
    await box.press("Enter");
    await seeText(page, "You are welcome.");
    await seeBadge(page, /^ended, complete/);
  },
  { complaints: /status of 401/ },
);
