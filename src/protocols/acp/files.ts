// The files that a coding agent asks for, by the rules and limits of the file tools: inside the work directory alone.

import { readContent } from "../../agent/tools/file-content.ts";
import { fileBytesMax, tooLarge } from "../../agent/tools/file-size.ts";
import { describeFailure } from "../../agent/tools/path-failure.ts";
import type { ToolContext, ToolOutcome } from "../../agent/tools/tool.ts";
import { OpenedPath, openInside } from "../../agent/tools/walk.ts";
import { writeFile } from "../../agent/tools/write-file.ts";

/** A file to read, or a part of its lines. */
export interface ReadRequest {
  readonly path: string;
  readonly line?: number | null;
  readonly limit?: number | null;
}

/** The content of a file, or why it cannot be read. */
export type ReadOutcome = { readonly content: string } | { readonly error: string; readonly isMissing?: boolean };

/** The files of a session. */
export interface AgentFiles {
  read(request: ReadRequest): Promise<ReadOutcome>;
  write(request: { readonly path: string; readonly content: string }): Promise<ToolOutcome>;
}

/** Returns the files of a session's work directory. */
export function openAgentFiles(context: ToolContext): AgentFiles {
  return {
    read: async ({ path, line, limit }) => {
      const opened = await openInside(context, path, "file");
      if (!(opened instanceof OpenedPath)) {
        const isMissing = opened.kind === "system" && opened.errno === "ENOENT";
        return { error: describeFailure(opened, "open"), isMissing };
      }
      await using file = opened;
      const bytes = await readContent(file.handle, context.signal);
      if (bytes.length > fileBytesMax) {
        return { error: tooLarge(file.joinedPath, bytes.length) };
      }
      const text = bytes.toString("utf8");
      if (line == null && limit == null) {
        return { content: text };
      }
      const first = Math.max((line ?? 1) - 1, 0);
      const lines = text.split(/(?<=\n)/).slice(first, limit == null ? undefined : first + limit);
      return { content: lines.join("") };
    },
    write: async ({ path, content }) => await writeFile.run({ file_path: path, content }, context),
  };
}
