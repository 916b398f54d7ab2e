// How results of commands read, but for the sentence of each command itself.

import {
  describeErrno,
  describeLinks,
  describeSensitive,
  type PathFailure,
} from "../../../agent/tools/path-failure.ts";
import type { CommandResult, CommandType } from "../command.ts";

export function succeed(type: CommandType, summary: string, output = ""): CommandResult {
  return { type, success: true, summary, output };
}

export function fail(type: CommandType, summary: string, output = ""): CommandResult {
  return { type, success: false, summary, output };
}

/** Contract: the sentence; the path follows as it was given. */
export function rejectOutside(type: CommandType, path: string): CommandResult {
  return fail(type, `REJECTED: Path is outside workspace: '${shorten(path)}'`);
}

/** Why a path is refused, for somebody who must not learn where on the host the workspace is. */
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

/** Enough for every path and command that is accepted; what is longer would fill the outbox without telling anything. */
const namedCharsMax = 4_096;

/** A path or command as a summary names it. */
export function shorten(text: string): string {
  return cutText(text, namedCharsMax, "…");
}

/** The first UTF-16 units and a mark, never half of a surrogate pair. A text that fits is left alone. */
export function cutText(text: string, unitsMax: number, mark: string): string {
  if (text.length <= unitsMax) {
    return text;
  }
  const splitsPair = (text.codePointAt(unitsMax - 1) ?? 0) > 0xffff;
  return text.slice(0, splitsPair ? unitsMax - 1 : unitsMax) + mark;
}
