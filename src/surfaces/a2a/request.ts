// What the two bindings over HTTP share: bodies, messages as ProtoJSON, and streams of events.

import { type DescMessage, fromJson, type JsonObject, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { ListTasksResponseSchema } from "#gen/lf/a2a/v1/a2a_pb.js";
import { isObject } from "../../platform/base/json/parse-object.ts";
import { assertUncompressed, decodeBody } from "../rest/body.ts";
import { endStream, type RestRequest, sendBody, setHead, writePiece } from "../rest/respond.ts";
import { sseHeartbeat } from "../rest/sse.ts";
import { type StreamedAnswer, streamHeaders, writeText } from "../rest/streamed-answer.ts";
import type { A2aCall } from "./call.ts";
import { A2aError, InvalidField } from "./errors.ts";

/** A request over HTTP, and its call. */
export interface Visit extends StreamedAnswer {
  readonly request: RestRequest;
  readonly call: A2aCall;
  readonly body: Uint8Array | undefined;
}

/** The refusal of a body's media type: 415 over HTTP. */
export class WrongMediaType extends A2aError {
  constructor() {
    super("CONTENT_TYPE_NOT_SUPPORTED", "content-type must be application/json or application/a2a+json");
  }
}

/** Returns the text of a body. Throws WrongMediaType for another type than JSON. */
export function readBody({ request, body = new Uint8Array() }: Pick<Visit, "request" | "body">): string {
  const [mediaType = ""] = (request.headers["content-type"] ?? "").split(";", 1);
  if (body.length > 0 && !/^\s*application\/(?:a2a\+)?json\s*$/i.test(mediaType)) {
    throw new WrongMediaType();
  }
  assertUncompressed(request);
  return decodeBody(body, false);
}

/** Reads a message from its JSON; unknown members are ignored, unknown names of its own enums are not. Throws InvalidField. */
export function readMessage(desc: DescMessage, value: unknown): Message {
  if (!isObject(value)) {
    throw new InvalidField("params", "must be an object");
  }
  for (const { jsonName, enum: names } of desc.fields) {
    const name = value[jsonName];
    if (names !== undefined && typeof name === "string" && names.values.every((each) => each.name !== name)) {
      throw new InvalidField(jsonName, `${JSON.stringify(name.slice(0, 100))} is unknown`);
    }
  }
  try {
    return fromJson(desc, wellFormed(value) as JsonObject, { ignoreUnknownFields: true });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const [, field = "request", rest = problem] =
      /^cannot decode field [\w.]+\.(\w+) from JSON: (.*)$/s.exec(problem) ?? [];
    throw new InvalidField(
      field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      rest,
    );
  }
}

/** Prints a message. Members that a list always has are there when they are empty. */
export function printMessage(desc: DescMessage, message: Message): string {
  return JSON.stringify(jsonOf(desc, message));
}

/** Returns a message as JSON. */
export function jsonOf(desc: DescMessage, message: Message): JsonValue {
  const json = toJson(desc, message);
  return desc === ListTasksResponseSchema
    ? { tasks: [], nextPageToken: "", pageSize: 0, totalSize: 0, ...(json as JsonObject) }
    : json;
}

/**
 * Sends a stream of events. A refusal before the first event is thrown; a later one is printed as the last event. A comment keeps a
 * quiet stream alive.
 */
export async function sendEvents(
  visit: Visit,
  events: AsyncGenerator<Message>,
  print: { readonly event: (event: Message) => string; readonly error: (error: unknown) => string },
): Promise<void> {
  const { response, call } = visit;
  let next = await events.next();
  setHead(response, 200, streamHeaders);
  await whileBeating(
    call,
    () => writeText(visit, sseHeartbeat),
    async () => {
      try {
        for (; next.done !== true; next = await events.next()) {
          await writeText(visit, `data: ${print.event(next.value)}\n\n`);
        }
        endStream(response, "");
      } catch (error) {
        endStream(response, print.error(error));
        throw error;
      }
    },
  );
}

/** Sends JSON that may take as long as a task: a waiting client gets white space, which JSON allows. */
export async function sendSlowly(visit: Visit, contentType: string, work: () => Promise<string>): Promise<void> {
  const { response, call } = visit;
  const wait = async (): Promise<void> => {
    // The first white space sends the head.
    if (!response.headersSent) {
      setHead(response, 200, { "content-type": contentType });
    }
    await writePiece(response, " ");
  };
  const json = await whileBeating(call, wait, work);
  if (response.headersSent) {
    endStream(response, json);
  } else {
    sendBody(response, 200, json, { "content-type": contentType });
  }
}

/** The Python client gives up after 5 s without a byte. */
const beatEveryMs = 3_000;

async function whileBeating<T>(
  { server, calls }: A2aCall,
  beat: () => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  const isOver = new AbortController();
  const signal = AbortSignal.any([isOver.signal, calls.signal]);
  const beats = (async () => {
    for (;;) {
      await server.clock.sleep(beatEveryMs, signal);
      if (signal.aborted) {
        return;
      }
      await beat();
    }
  })();
  // A failure is thrown below. Until then it must not end the process.
  beats.catch(() => {});
  try {
    return await work();
  } finally {
    isOver.abort();
    await beats;
  }
}

/** Half of a surrogate pair becomes U+FFFD: it cannot be stored. */
function wellFormed(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === "string" ? each.toWellFormed() : each,
  );
}
