// Streams a response as server-sent events. There are no ids: after one, the Python client reads our comments as events.

import { followLog } from "../in-process/follow-log.ts";
import { keepAlive } from "../in-process/slow-json.ts";
import type { Visit } from "../in-process/visit.ts";
import { isReason } from "../rest/failure.ts";
import { endStream, setHead } from "../rest/respond.ts";
import { streamHeaders, writeText } from "../rest/streamed-answer.ts";
import type { Origin } from "./echo.ts";
import { toApiError } from "./errors.ts";
import { type ResponseEvent, ResponseFold } from "./fold.ts";

/** Streams the events after a number, until the terminal one. */
export async function streamResponse(visit: Visit, origin: Origin, after: number): Promise<void> {
  const { calls, response } = visit;
  const fold = new ResponseFold(origin);
  const print = (events: readonly ResponseEvent[]): string =>
    events
      .filter(({ sequence_number }) => sequence_number > after)
      .map(printEvent)
      .join("");
  let opening = print(fold.open());
  try {
    for await (const results of followLog(calls, origin.runId)) {
      // The first batch shows that the log can be read: until then the answer may be an error.
      if (!response.headersSent) {
        setHead(response, 200, streamHeaders);
        await writeText(visit, opening || keepAlive);
        opening = "";
      } else if (results.length === 0) {
        await writeText(visit, keepAlive);
      }
      await writeText(visit, print(results.flatMap((result) => fold.take(result))));
      if (fold.isOver) {
        break;
      }
    }
    endStream(response, "");
  } catch (error) {
    if (calls.signal.aborted || !response.headersSent) {
      throw error;
    }
    endStream(response, printEvent(farewell(error, Math.max(after, fold.lastNumber))));
  }
}

function printEvent(event: ResponseEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The last event of a stream that the service gives up. Clients read the error in either place. */
function farewell(error: unknown, lastNumber: number): ResponseEvent {
  const { body } = toApiError(error);
  const isResumable = isReason(error, "RESUME");
  const message = isResumable ? "the stream was ended by the service: retrieve it with starting_after" : body.message;
  const { type, param } = body;
  const code = isResumable ? "resume" : body.code;
  return { type: "error", sequence_number: lastNumber, code, message, param, error: { type, code, message, param } };
}
