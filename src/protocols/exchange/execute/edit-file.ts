// EDIT_FILE: replaces lines of a file, in one step.

import { changeFile, type Made } from "../../../agent/tools/change-file.ts";
import { readContent } from "../../../agent/tools/file-content.ts";
import { contentTooLarge, fileBytesMax } from "../../../agent/tools/file-size.ts";
import { Refusal } from "../../../agent/tools/path-failure.ts";
import type { ToolContext } from "../../../agent/tools/tool.ts";
import { type FilePlace, OpenedPath, openInside } from "../../../agent/tools/walk.ts";
import { decodeUtf8 } from "../../../platform/base/utf8.ts";
import type { CommandOf, CommandResult, Trace } from "../command.ts";
import { digestOf } from "./digest.ts";
import { editLines } from "./edit-lines.ts";
import { isNotFound, notFound, traceFile, workOnFile } from "./file-command.ts";
import { describeRefusal, fail, shorten, succeed } from "./result.ts";

type EditFile = CommandOf<"EDIT_FILE">;

/** Edits a file. `again` is the trace of an earlier attempt with an unknown outcome. */
export async function editFile(command: EditFile, context: ToolContext, again?: Trace): Promise<CommandResult> {
  const make = async ({ file }: FilePlace): Promise<Made<CommandResult>> => {
    const content = file === undefined ? Buffer.alloc(0) : await readContent(file.handle, context.signal);
    const made = makeEdit(command, content);
    return again === undefined ? made : resume(command, digestOf(content), made, again);
  };
  return await workOnFile(
    command,
    context,
    (failure) => (isNotFound(failure) ? notFound(command, failure) : refuseFor(command, describeRefusal(failure))),
    (refuse) => changeFile({ path: command.path, purpose: "edit", make, fail: refuse }, context),
  );
}

/** Reads the digests of the file before and after the edit; empty when the edit will be refused. */
export async function traceEdit(command: EditFile, context: ToolContext): Promise<Trace> {
  return await traceFile(command, context, async () => {
    const opened = await openInside(context, command.path, "file");
    if (!(opened instanceof OpenedPath)) {
      throw new Refusal(opened);
    }
    await using file = opened;
    const content = await readContent(file.handle, context.signal);
    const made = makeEdit(command, content);
    if (!("bytes" in made)) {
      return {};
    }
    const note = made.said.output;
    return { before: digestOf(content), after: digestOf(made.bytes), ...(note !== "" && { note }) };
  });
}

function makeEdit(command: EditFile, content: Buffer): Made<CommandResult> {
  const { type, startLine, endLine } = command;
  if (content.length > fileBytesMax) {
    return { unchanged: refuseFor(command, `file too large (max ${fileBytesMax} bytes)`) };
  }
  const decoded = decodeUtf8(content);
  if ("invalidAt" in decoded) {
    return { unchanged: refuseFor(command, `not UTF-8 at byte ${decoded.invalidAt}`) };
  }
  const edited = editLines(decoded.text, command);
  if ("lines" in edited) {
    const range = `Invalid line range ${startLine}-${endLine} for file with ${edited.lines} lines`;
    return { unchanged: fail(type, range) };
  }
  const bytes = Buffer.from(edited.text);
  return bytes.length > fileBytesMax
    ? { unchanged: refuseFor(command, contentTooLarge(bytes.length)) }
    : { bytes, said: succeedEdit(command, noteChanges(content, decoded.text)) };
}

function succeedEdit({ type, path, startLine, endLine }: EditFile, note: string): CommandResult {
  return succeed(type, `Edited '${shorten(path)}' lines ${startLine}-${endLine}`, note);
}

/** Says what an edit changes besides its lines, as the document's own program does; empty when it changes nothing else. */
function noteChanges(content: Buffer, text: string): string {
  const changes = [
    ...(text.includes("\r") ? [`turned ${text.includes("\r\n") ? "CRLF" : "CR"} line ends into LF`] : []),
    ...(content.toString("utf8", 0, 3) === byteOrderMark ? ["dropped the byte order mark"] : []),
    ...(text.endsWith("\n") || text.endsWith("\r") ? [] : ["added a final newline"]),
  ];
  return changes.length === 0 ? "" : `note: the edit also ${changes.join(", ")}`;
}

const byteOrderMark = "\ufeff";

/**
 * Resumes an attempt with an unknown outcome. The digest of the file shows the outcome, unless another process changed the
 * file.
 */
function resume(command: EditFile, digest: string, made: Made<CommandResult>, again: Trace): Made<CommandResult> {
  if (digest === again.after) {
    return { unchanged: succeedEdit(command, again.note ?? "") };
  }
  // An empty trace means that the edit was going to be refused, so nothing was done.
  const isAsBefore = digest === again.before || (again.before === undefined && "unchanged" in made);
  return isAsBefore ? made : { unchanged: refuseFor(command, interruptedText) };
}

const interruptedText = "an earlier attempt was interrupted, and the file has changed since";

function refuseFor({ type, path }: EditFile, reason: string): CommandResult {
  return fail(type, `Failed to edit '${shorten(path)}': ${reason}`);
}
