// The surface of Durable Streams (protocol 1.0, read path, §3): the log of each run as an append-only stream of JSON messages, which
// the protocol's clients read to its end, poll and follow from any offset. One result is one message, in the JSON of REST.

import { create } from "@bufbuild/protobuf";
import { ErrorBody, RestProfileSchema } from "#gen/runnel/options/v1/options_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { over } from "../../platform/base/clock.ts";
import { Fault } from "../../platform/base/fault.ts";
import { random } from "../../platform/base/random.ts";
import {
  createRoutedSurface,
  type PrintedError,
  type Route,
  route,
  type SurfaceOptions,
} from "../in-process/routed-surface.ts";
import type { Visit } from "../in-process/visit.ts";
import { errorStyleOf, failureHeaders, printFailure, statusOfFailure } from "../rest/errors.ts";
import { describeFailure, isReason, isUnexpected } from "../rest/failure.ts";
import { endStream, sendBody, setHead } from "../rest/respond.ts";
import { encodeSseEvent, sseHeartbeat } from "../rest/sse.ts";
import { streamHeaders, writeText } from "../rest/streamed-answer.ts";
import { awaitMessages, type Chunk, chunkOf, findTail, readChunk, type Tail, unknownTail } from "./chunk.ts";
import { cursorOf, invalid, offsetOf, readWanted } from "./position.ts";

const { tailRun } = RunService.method;
const path = "/v1/runs/{id}/stream";
const routes: readonly Route[] = [
  route("GET", path, tailRun, readStream),
  route("HEAD", path, tailRun, describeStream),
];
const ownPath = /^\/v1\/runs\/[^/]+\/stream$/;

/** Returns the surface. It is closed to writers: a run alone writes its log. */
export function createDurableStreamsSurface(options: SurfaceOptions) {
  const owns = (asked: string): boolean => ownPath.test(asked);
  return createRoutedSurface(
    { routes, owns, unknownRoute: () => new ReadOnly(), isDefect: isUnexpected, printError },
    options,
  );
}

const errorStyle = errorStyleOf(create(RestProfileSchema, { errorBody: ErrorBody.RUNNEL }));

/** The surface owns one path, so only the method can be unknown. */
class ReadOnly extends Fault {
  constructor() {
    super("INVALID_ARGUMENT", "the log of a run is a stream that only its run writes: use GET or HEAD");
  }
}

function printError(error: unknown): PrintedError {
  const failure = describeFailure(error);
  const isReadOnly = error instanceof ReadOnly;
  return {
    status: isReadOnly ? 405 : statusOfFailure(failure, errorStyle),
    json: printFailure(failure, errorStyle),
    headers: { ...failureHeaders(failure), ...(isReadOnly && { allow: "GET, HEAD" }) },
  };
}

async function describeStream({ calls, response }: Visit, runId: string): Promise<void> {
  const { last, isClosed } = await findTail(calls, runId);
  setHead(response, 200, { ...messageHeaders, ...positionHeaders({ next: last, isUpToDate: false, isClosed }) });
  endStream(response, "");
}

async function readStream(visit: Visit, runId: string): Promise<void> {
  const { calls, query } = visit;
  const wanted = readWanted(query);
  const tail = await findTail(calls, runId).catch((error: unknown) => {
    if (wanted.live === "sse" && wanted.after !== "now" && isReason(error, "ACCESS_DENIED")) {
      return unknownTail;
    }
    throw error;
  });
  const after = wanted.after === "now" ? tail.last : wanted.after;
  if (after > tail.last) {
    throw invalid("offset", `is beyond the end of the stream, ${offsetOf(tail.last)}`);
  }
  if (wanted.live === "sse") {
    await followStream(visit, runId, { after, tail, cursor: wanted.cursor });
    return;
  }
  const chunk = await readChunk(calls, runId, after, tail);
  if (wanted.live === "long-poll") {
    await answerPoll(visit, runId, { chunk, cursor: wanted.cursor });
    return;
  }
  const headers = { ...messageHeaders, ...positionHeaders(chunk) };
  if (wanted.after === "now") {
    sendBody(visit.response, 200, "[]", headers);
    return;
  }
  const etag = `"${runId}:${after}:${chunk.next}${chunk.isClosed ? ":closed" : ""}"`;
  const cacheControl = chunk.isUpToDate ? "no-store" : "private, max-age=60, stale-while-revalidate=300";
  const cached = { ...headers, etag, "cache-control": cacheControl };
  if (visit.request.headers["if-none-match"] === etag) {
    setHead(visit.response, 304, cached);
    endStream(visit.response, "");
    return;
  }
  sendBody(visit.response, 200, joinMessages(chunk), cached);
}

async function answerPoll(
  { calls, clock, response }: Visit,
  runId: string,
  { chunk, cursor }: { readonly chunk: Chunk; readonly cursor: number | undefined },
): Promise<void> {
  const found =
    chunk.messages.length > 0 || chunk.isClosed ? chunk : await awaitMessages({ calls, clock }, runId, chunk.next);
  const headers = { ...positionHeaders(found), "stream-cursor": cursorOf(clock.nowMs(), cursor, random) };
  if (found.messages.length === 0) {
    sendBody(response, 204, "", headers);
    return;
  }
  sendBody(response, 200, joinMessages(found), { ...messageHeaders, ...headers });
}

/** A stream that is open closes after a minute, so that its readers come back to a replica that has room (§5.8). */
const followMs = 60_000;

async function followStream(
  visit: Visit,
  runId: string,
  { after, tail, cursor }: { readonly after: number; readonly tail: Tail; readonly cursor: number | undefined },
): Promise<void> {
  const { calls, clock, response } = visit;
  const isOver = new AbortController();
  const signal = AbortSignal.any([calls.signal, isOver.signal]);
  const control = (position: Position): Promise<void> =>
    writeText(visit, encodeSseEvent({ id: "", type: "control", data: printControl(visit, position, cursor) }));
  const isAtEnd = after === tail.last && tail.isClosed;
  const batches = isAtEnd ? undefined : calls.follow(tailRun, { runId, after: BigInt(after) }, signal);
  // A call that is refused fails here, before the head is sent.
  let batch = await batches?.next();
  // Without a charset, as the protocol has it: such a stream is always UTF-8.
  setHead(response, 200, { ...streamHeaders, ...sharedHeaders, "content-type": "text/event-stream" });
  if (after === tail.last) {
    await control({ next: after, isUpToDate: true, isClosed: tail.isClosed });
  }
  void clock.sleep(followMs, signal).then(() => isOver.abort(over));
  try {
    for (; batch?.done === false; batch = await batches?.next()) {
      const { results } = batch.value;
      if (results.length === 0) {
        await writeText(visit, sseHeartbeat);
        continue;
      }
      const chunk = chunkOf(results);
      await writeText(visit, encodeSseEvent({ id: "", type: "data", data: joinMessages(chunk) }));
      await control({ ...chunk, isUpToDate: chunk.isClosed || chunk.next >= tail.last });
    }
  } catch (error) {
    // A replica that stops, and the end of the time, are ends of the connection alone: the reader comes back with its offset.
    if (!signal.aborted && isUnexpected(error)) {
      throw error;
    }
  } finally {
    isOver.abort(over);
    await batches?.return();
  }
  endStream(response, "");
}

type Position = Pick<Chunk, "next" | "isUpToDate" | "isClosed">;

function printControl({ clock }: Visit, { next, isUpToDate, isClosed }: Position, cursor: number | undefined): string {
  return JSON.stringify({
    streamNextOffset: offsetOf(next),
    ...(isClosed ? { streamClosed: true } : { streamCursor: cursorOf(clock.nowMs(), cursor, random) }),
    ...(isUpToDate && { upToDate: true }),
  });
}

/** Pages of other origins may read what their credentials open. */
const sharedHeaders = { "cross-origin-resource-policy": "cross-origin" };
const messageHeaders = { "content-type": "application/json", ...sharedHeaders };

function positionHeaders({ next, isUpToDate, isClosed }: Position): Record<string, string> {
  return {
    "stream-next-offset": offsetOf(next),
    ...(isUpToDate && { "stream-up-to-date": "true" }),
    ...(isClosed && { "stream-closed": "true" }),
  };
}

function joinMessages({ messages }: Chunk): string {
  return `[${messages.join(",")}]`;
}
