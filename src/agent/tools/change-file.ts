// What all that changes files has in common: one file gets new content in one step, in its turn among those who change the
// same path.

import { resolve } from "node:path";
import { inTurn } from "./in-turn.ts";
import { describeFailure, type PathFailure, toFailure } from "./path-failure.ts";
import { replaceFile } from "./replace-file.ts";
import type { ToolContext, ToolOutcome } from "./tool.ts";
import { FilePlace, openPlace } from "./walk.ts";

export interface Change<Outcome> {
  readonly path: string;
  readonly purpose: "write" | "edit";
  /** What the file shall hold, and what to say once it does; or why it stays as it is. */
  readonly make: (place: FilePlace) => Promise<Made<Outcome>>;
  /** What to say where the file cannot be opened or written. */
  readonly fail: (failure: PathFailure, operation: "open" | "write") => Outcome;
}

export type Made<Outcome> = { readonly bytes: Uint8Array; readonly said: Outcome } | { readonly unchanged: Outcome };

/** How a call of a tool ends that could not open or write its file. */
export function failCall(failure: PathFailure, operation: "open" | "write"): ToolOutcome {
  return { error: describeFailure(failure, operation) };
}

export async function changeFile<Outcome>(change: Change<Outcome>, context: ToolContext): Promise<Outcome> {
  return await inTurn(resolve(context.workDir, change.path), () => changeNow(change, context));
}

async function changeNow<Outcome>(
  { path, purpose, make, fail }: Change<Outcome>,
  context: ToolContext,
): Promise<Outcome> {
  const { signal } = context;
  signal.throwIfAborted();
  const opened = await openPlace(context, path, purpose);
  if (!(opened instanceof FilePlace)) {
    return fail(opened, "open");
  }
  await using place = opened;
  const made = await make(place);
  if ("unchanged" in made) {
    return made.unchanged;
  }
  try {
    await replaceFile(place, made.bytes, signal);
  } catch (error) {
    return fail(toFailure(error, place.joinedPath), "write");
  }
  return made.said;
}
