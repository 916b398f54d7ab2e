// The headers of every answer. An answer belongs to its caller: no cache may keep it, such as that of a signed GET or of a stream
// that a ticket opens, and no browser may take its bytes for another type.

import type { Response } from "./message.ts";

/** By name. A handler replaces `cache-control` where caches may keep the answer. */
export const answerHeaders = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;

/** Sets the headers of every answer, before any handler sets its own. */
export function setAnswerHeaders(response: Response): void {
  response.setHeader("cache-control", answerHeaders["cache-control"]);
  response.setHeader("x-content-type-options", answerHeaders["x-content-type-options"]);
}
