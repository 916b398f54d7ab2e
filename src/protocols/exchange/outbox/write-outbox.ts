// An outbox as its workspace stands now.

import type { WorkPlace } from "../../../engine/sessions/work-place.ts";
import type { CommandResult } from "../command.ts";
import { renderOutbox } from "./render.ts";
import { listWorkspace, readRequested } from "./workspace.ts";

export interface NextOutbox {
  readonly exchangeId: string;
  readonly task: string;
  readonly sequence: number;
  /** What the commands of the last inbox did. */
  readonly results: readonly CommandResult[];
  /** Paths whose contents it shows. */
  readonly readRequests: readonly string[];
}

export type WriteOutbox = (next: NextOutbox, place: WorkPlace, signal: AbortSignal) => Promise<string>;

export const writeOutbox: WriteOutbox = async ({ readRequests, ...next }, place, signal) => {
  const files = await listWorkspace(place, signal);
  const requested = await readRequested(place, readRequests, signal);
  return renderOutbox({ ...next, files, requested });
};
