// The files of an inbox while their writers work.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Inbox, listInbox } from "../../src/cli/exchange/inbox.ts";
import { ownFolder } from "./command.ts";

test("an answer that is written over one while that is moved away stays in the inbox", async () => {
  const root = await ownFolder();
  const folders = {
    ...{ root, outbox: join(root, "outbox"), sessions: join(root, "sessions"), workspace: join(root, "workspace") },
    ...{ inbox: join(root, "inbox"), processed: join(root, "inbox/processed") },
  };
  mkdirSync(folders.processed, { recursive: true });
  const inbox = new Inbox(folders);
  const path = join(folders.inbox, "answer.txt");
  for (let round = 0; round < 200; round++) {
    writeFileSync(path, "first");
    const [file] = await listInbox(folders);
    expect(file?.size).toBe(5);
    const moving = file && inbox.move(file);
    // Before, during or after the look of the move, and before or after the move itself.
    for (let turns = 0; turns < round % 8; turns++) {
      await null;
      await new Promise(setImmediate);
    }
    writeFileSync(path, `second ${round}`);
    await moving;
    expect(readFileSync(path, "utf8")).toBe(`second ${round}`);
  }
});
