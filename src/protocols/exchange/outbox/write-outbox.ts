// Writes an outbox from the current state of its workspace.

import type { Workspace } from "../../../engine/sessions/workspace.ts";
import type { CommandResult } from "../command.ts";
import { renderOutbox } from "./render.ts";
import { listWorkspace, readRequested } from "./workspace.ts";

/** The data of the next outbox. */
export interface NextOutbox {
  readonly exchangeId: string;
  readonly task: string;
  readonly sequence: number;
  /** The results of the last inbox. */
  readonly results: readonly CommandResult[];
  /** Paths whose contents it shows. */
  readonly readRequests: readonly string[];
}

/** Writes the next outbox and returns its text. */
export type WriteOutbox = (next: NextOutbox, workspace: Workspace, signal: AbortSignal) => Promise<string>;

/** Lists the workspace, reads the requested files and renders the outbox. */
export const writeOutbox: WriteOutbox = async ({ readRequests, ...next }, workspace, signal) => {
  const files = await listWorkspace(workspace, signal);
  const requested = await readRequested(workspace, readRequests, signal);
  return renderOutbox({ ...next, files, requested });
};
