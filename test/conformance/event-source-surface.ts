// The API as a web page uses it: REST, with streams through an EventSource that reconnects by itself after a cut.

import { getOption } from "@bufbuild/protobuf";
import { EventSource } from "eventsource";
import { event as eventOption, result as resultOption } from "#gen/runnel/options/v1/options_pb.js";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { StreamSessionResponseSchema } from "#gen/runnel/v1/session_service_pb.js";
import type { SseEvent } from "../harness/sse.ts";
import { plainJson } from "./plain.ts";
import { connectRest, refusal, refused, resultOf, runPath, sessionPath } from "./rest-surface.ts";
import { Refused, type Surface } from "./surface.ts";

/** With a ticket its streams send no headers of their own, like those of a browser. */
export function connectEventSource(
  url: string,
  headers: Readonly<Record<string, string>>,
  ticket: string = "",
): Surface {
  const follow = (path: string, after: string, types: readonly string[]): AsyncGenerator<SseEvent> => {
    // An EventSource cannot set the position of its first connection, so the URL does.
    const query = new URLSearchParams({ ...(after !== "" && { after }), ...(ticket !== "" && { ticket }) });
    return followEvents(`${url}${path}?${query}`, { headers: ticket === "" ? headers : {}, types });
  };
  return {
    ...connectRest(url, headers),
    followSession: async function* (sessionId, after = "") {
      for await (const { id, event, data } of follow(`${sessionPath(sessionId)}/stream`, after, sessionTypes)) {
        yield { id: id ?? "", type: event, payload: plainJson(data) };
        if (event === "done") {
          return;
        }
      }
    },
    followRun: async function* (runId, after = 0) {
      const cursor = after === 0 ? "" : String(after);
      for await (const { event, data } of follow(`${runPath(runId)}/results:tail`, cursor, resultTypes)) {
        if (event === "end") {
          return;
        }
        if (event === "error") {
          throw refusal(data, undefined);
        }
        yield resultOf(plainJson(data), event);
      }
    },
  };
}

/** An EventSource delivers only events whose names it knows. */
export const sessionTypes = StreamSessionResponseSchema.fields
  .map((field) => getOption(field, eventOption))
  .filter(Boolean);
export const resultTypes = [
  ...RunResultSchema.fields.map((field) => getOption(field, resultOption).name).filter(Boolean),
  "end",
  "error",
];

/**
 * Yields events across any number of connections, until the service says that there are no more. Throws when the service
 * refuses, or no longer answers.
 */
export async function* followEvents(
  url: string,
  { headers, types }: { readonly headers: Readonly<Record<string, string>>; readonly types: readonly string[] },
): AsyncGenerator<SseEvent> {
  const arrived: SseEvent[] = [];
  let failure: Refused | undefined;
  let isOver = false;
  let woken = Promise.withResolvers<void>();
  const source = new EventSource(url, {
    fetch: async (target, init) => {
      const response = await fetch(target, { ...init, headers: { ...init.headers, ...headers } }).catch(
        () => undefined,
      );
      if (response?.ok !== true) {
        failure = response === undefined ? new Refused("the stream broke off", {}) : await refused(response);
      }
      return response ?? Response.error();
    },
  });
  let lastEventId = "";
  const take = (event: Event): void => {
    if (event instanceof MessageEvent) {
      // An event without an id repeats the id of the event before it.
      const id = event.lastEventId === lastEventId ? undefined : event.lastEventId;
      lastEventId = event.lastEventId;
      arrived.push({ id, event: event.type, data: event.data });
    }
    isOver ||= source.readyState === source.CLOSED;
    woken.resolve();
  };
  for (const type of new Set([...types, "error"])) {
    source.addEventListener(type, take);
  }
  try {
    while (arrived.length > 0 || !isOver) {
      const event = arrived.shift();
      if (event !== undefined) {
        yield event;
        continue;
      }
      await woken.promise;
      woken = Promise.withResolvers();
    }
    if (failure !== undefined) {
      throw failure;
    }
  } finally {
    source.close();
  }
}
