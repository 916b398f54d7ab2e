// The argument of a request that tells most about it, for lists of approvals. Reads only the beginning of a request, which may be
// long and be cut anywhere: so it goes through the members of the payload, and takes no text from within another value.

import { oneLine } from "../../platform/base/one-line.ts";

const subjectCharsMax = 200;
/** The most telling arguments first: what a command does, where a file is. */
const telling = ["command", "file_path", "path", "url", "query", "pattern"];

/** Returns the subject of a request as ApprovalService has it; empty for none. `start` is the beginning of the request. */
export function subjectOf(start: string): string {
  const texts = payloadTexts(start);
  const named = telling.map((name) => texts.get(name)).find((text) => text !== undefined);
  const [first = ""] = texts.values();
  return oneLine(named ?? first, subjectCharsMax);
}

/** One token of JSON; a string may lack its end. */
const token = /\s*(?:("(?:[^"\\]|\\.)*"?)|([{}[\],:])|([^\s{}[\],:"]+))/y;

/** Returns the members of the payload that are texts: of two with a name, the last one, as those who parse it do. */
function payloadTexts(request: string): Map<string, string> {
  const texts = new Map<string, string>();
  /** The names of the members that are open, from the outside. */
  const path: (string | undefined)[] = [];
  let isValue = false;
  token.lastIndex = 0;
  for (let match = token.exec(request); match !== null; match = token.exec(request)) {
    const [, text, mark] = match;
    if (mark === "{" || mark === "[") {
      path.push(undefined);
      isValue = mark === "[";
    } else if (mark === "}" || mark === "]") {
      path.pop();
    } else if (mark === ":") {
      isValue = true;
    } else if (mark === ",") {
      isValue = false;
    } else if (text !== undefined && !isValue && path.length > 0) {
      path[path.length - 1] = readText(text);
    } else if (text !== undefined && path.length === 2 && path[0] === "payload" && path[1] !== undefined) {
      texts.set(path[1], readText(text));
    }
  }
  return texts;
}

/** Reads a string of JSON that may be cut. */
function readText(text: string): string {
  const isWhole = text.length > 1 && text.endsWith('"');
  const inner = isWhole ? text.slice(1, -1) : text.slice(1).replace(/\\(?:u[0-9a-f]{0,3})?$/i, "");
  try {
    return String(JSON.parse(`"${inner}"`));
  } catch {
    return "";
  }
}
