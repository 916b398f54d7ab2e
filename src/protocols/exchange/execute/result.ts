// Texts of results of commands, except for the sentence of each command itself.

import {
  describeErrno,
  describeLinks,
  describeSensitive,
  type PathFailure,
} from "../../../agent/tools/path-failure.ts";
import type { CommandResult, CommandType } from "../command.ts";

/** Makes a successful result. */
export function succeed(type: CommandType, summary: string, output = ""): CommandResult {
  return { type, success: true, summary, output };
}

/** Makes a failed result. */
export function fail(type: CommandType, summary: string, output = ""): CommandResult {
  return { type, success: false, summary, output };
}

/** Refuses a path outside the workspace. The sentence is the contract's; the path follows as it was given. */
export function rejectOutside(type: CommandType, path: string): CommandResult {
  return fail(type, `REJECTED: Path is outside workspace: '${shorten(path)}'`);
}

/**
 * Describes why a path is refused. The author of an inbox must not learn the workspace's path on the host, so it is left out.
 */
export function describeRefusal(failure: PathFailure): string {
  switch (failure.kind) {
    case "outside":
      return "it leads outside the workspace";
    case "system":
      return describeErrno(failure.errno);
    case "text":
      return failure.words;
    case "sensitive":
      return describeSensitive(failure.part);
    case "hidden":
      return "access is blocked: it belongs to the service";
    case "processes":
      return "access is blocked: it shows the system's processes";
    case "not_regular":
      return "not a regular file";
    case "hard_links":
      return `it has ${describeLinks(failure.links)}`;
    case "workspace":
      return "the workspace is not accessible";
    default:
      return failure satisfies never;
  }
}

/** The maximum length of a named path or command. Every accepted one fits; a longer one would only fill the outbox. */
const namedCharsMax = 4_096;

/** Shortens a path or command for a summary. */
export function shorten(text: string): string {
  return cutText(text, namedCharsMax, "…");
}

/** Returns the first UTF-16 units and a mark, never half of a surrogate pair. Returns a text that fits unchanged. */
export function cutText(text: string, unitsMax: number, mark: string): string {
  if (text.length <= unitsMax) {
    return text;
  }
  const splitsPair = (text.codePointAt(unitsMax - 1) ?? 0) > 0xffff;
  return text.slice(0, splitsPair ? unitsMax - 1 : unitsMax) + mark;
}
