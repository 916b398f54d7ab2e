// The folders of an exchange: outbox/ holds texts for the chat window, inbox/ takes its answers, and sessions/ holds the state
// of each exchange.
//
// F1  The workspace and these folders never contain each other: a file that an answer writes must never become an answer.

import { mkdir, realpath } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { CommandError } from "../command-error.ts";

/** The folders of an exchange. */
export interface Folders {
  readonly root: string;
  readonly outbox: string;
  readonly inbox: string;
  readonly processed: string;
  readonly sessions: string;
  /** The folder in which commands work; absolute. */
  readonly workspace: string;
}

/** The flags that name the folders. */
export interface FolderFlags {
  readonly dir: string;
  readonly workspace?: string;
}

/** Returns the folders, and makes missing ones. Throws a `CommandError` when one cannot be made or F1 is violated. */
export async function openFolders({ dir, workspace }: FolderFlags): Promise<Folders> {
  const root = resolve(dir);
  const folders = {
    root,
    outbox: join(root, "outbox"),
    inbox: join(root, "inbox"),
    processed: join(root, "inbox", "processed"),
    sessions: join(root, "sessions"),
    workspace: workspace === undefined ? join(root, "workspace") : resolve(workspace),
  };
  for (const folder of Object.values(folders)) {
    await makeFolder(folder);
  }
  await assertApart(folders);
  return folders;
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`cannot make the folder ${path}: ${why}`, { reason: "FOLDER_UNUSABLE", cause });
  }
}

async function assertApart({ outbox, inbox, sessions, workspace }: Folders): Promise<void> {
  const real = await realpath(workspace);
  for (const folder of await Promise.all([outbox, inbox, sessions].map((each) => realpath(each)))) {
    if (isWithin(folder, real) || isWithin(real, folder)) {
      throw new CommandError(`the workspace ${workspace} and ${folder} must lie apart`, {
        reason: "WORKSPACE_UNSAFE",
        fix: "name another --workspace, or another --dir for outbox/, inbox/ and sessions/: answers could write answers otherwise",
        exitCode: 2,
      });
    }
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`));
}
