// What `runnel acp` keeps with a session, in its annotations: so a list of sessions needs no other place.

import type { Session } from "#gen/runnel/v1/session_pb.js";
import { isObject, parseObject } from "../../platform/base/json/parse-object.ts";

/** The note of a session. */
export interface Note {
  /** The editor's directory when the session began. */
  readonly cwd: string;
  /** Whether the tools work in that directory. */
  readonly in_project?: boolean;
  readonly title?: string;
  /** The model that the editor has chosen; unset means that of the agent. */
  readonly model?: string;
}

/** Returns the note of a session; undefined for a session that another program made. */
export function readNote({ annotations }: Session): Note | undefined {
  const { acp } = parseObject(annotations) ?? {};
  return isObject(acp) && typeof acp.cwd === "string" ? (acp as unknown as Note) : undefined;
}

/** Returns the annotations of a session with this note, in place of the one before. */
export function printNote(note: Note, before = ""): string {
  return JSON.stringify({ ...parseObject(before), acp: note });
}
