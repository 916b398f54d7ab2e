// The common part of everything that changes files: one file gets new content atomically, and changes of the same path run one
// after the other.

import { resolve } from "node:path";
import { inTurn } from "./in-turn.ts";
import { describeFailure, type PathFailure, toFailure } from "./path-failure.ts";
import { replaceFile } from "./replace-file.ts";
import type { ToolContext, ToolOutcome } from "./tool.ts";
import { FilePlace, openPlace } from "./walk.ts";

/** A change of one file. */
export interface Change<Outcome> {
  readonly path: string;
  readonly purpose: "write" | "edit";
  /** Returns the new content and the outcome after writing it, or the outcome when the file stays unchanged. */
  readonly make: (place: FilePlace) => Promise<Made<Outcome>>;
  /** Returns the outcome when the file cannot be opened or written. */
  readonly fail: (failure: PathFailure, operation: "open" | "write") => Outcome;
}

/** The result of `make`. */
export type Made<Outcome> = { readonly bytes: Uint8Array; readonly said: Outcome } | { readonly unchanged: Outcome };

/** Returns the outcome of a call that could not open or write its file. */
export function failCall(failure: PathFailure, operation: "open" | "write"): ToolOutcome {
  return { error: describeFailure(failure, operation) };
}

/** Changes a file after all earlier changes of the same path. */
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
