// What write_file and edit_file have in common: one file gets new content in one step, in its turn among the calls for its path.

import { resolve } from "node:path";
import { inTurn } from "./in-turn.ts";
import { describeFailure, toFailure } from "./path-failure.ts";
import { replaceFile } from "./replace-file.ts";
import type { ToolContext, ToolOutcome } from "./tool.ts";
import { FilePlace, openPlace } from "./walk.ts";

export interface Change {
  readonly path: string;
  readonly purpose: "write" | "edit";
  /** What the file shall hold, and what to say once it does; or why it stays as it is. */
  readonly make: (place: FilePlace) => Promise<{ readonly bytes: Uint8Array; readonly said: string } | ToolError>;
}

export type ToolError = Extract<ToolOutcome, { readonly error: string }>;

export async function changeFile(change: Change, context: ToolContext): Promise<ToolOutcome> {
  return await inTurn(resolve(context.workDir, change.path), () => changeNow(change, context));
}

async function changeNow({ path, purpose, make }: Change, context: ToolContext): Promise<ToolOutcome> {
  const { signal } = context;
  signal.throwIfAborted();
  const opened = await openPlace(context, path, purpose);
  if (!(opened instanceof FilePlace)) {
    return { error: describeFailure(opened, "open") };
  }
  await using place = opened;
  const made = await make(place);
  if ("error" in made) {
    return made;
  }
  try {
    await replaceFile(place, made.bytes, signal);
  } catch (error) {
    return { error: describeFailure(toFailure(error, place.joinedPath), "write") };
  }
  return { content: made.said };
}
