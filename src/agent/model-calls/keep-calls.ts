// Keeps the calls of models as they were, for the person who looks for the cause of an answer. Off by default: a service without it
// runs none of this.
//
// M1  A call that cannot be written fails no run.
// M2  Nothing is written before the secrets are out of it.

import type { Clock } from "../../platform/base/clock.ts";
import { newUuid } from "../../platform/base/ids.ts";
import { type Db, storableText } from "../../platform/database/database.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { createScrubber } from "../../platform/telemetry/scrub.ts";
import type { Model, ModelPart, ModelRequest } from "../models/model.ts";
import { type RecordedBody, type RecordedExchange, Recorder } from "../models/wire/recorder.ts";
import { hideInBody, plainHeaders } from "./hide.ts";
import { insertModelCalls, type ModelCallRow } from "./storage/model-call.ts";

/** The recorded bytes beyond the limit: a secret that the limit cuts is found there. */
const marginBytes = 4_096;

/** What the keeper needs. */
export interface CallKeeperOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Pick<Events, "databaseTroubled">;
  /** The values of secret settings. */
  readonly secrets: readonly string[];
  /** The maximum size of a body and of an answer. */
  readonly bytesMax: number;
}

/** Returns a function that returns the same model, which keeps the calls of runs. */
export function createCallKeeper(options: CallKeeperOptions): (model: Model) => Model {
  const { scrubLine } = createScrubber(options.secrets);
  const keeping = { ...options, hide: (text: string): string => scrubLine(hideInBody(text)) };
  return (model) => ({
    ...model,
    stream: (request, signal) =>
      request.askedBy === undefined
        ? model.stream(request, signal)
        : streamAndKeep(model, { ...keeping, askedBy: request.askedBy }, request, signal),
  });
}

interface Keeping extends CallKeeperOptions {
  readonly hide: (text: string) => string;
  readonly askedBy: NonNullable<ModelRequest["askedBy"]>;
}

async function* streamAndKeep(
  model: Model,
  keeping: Keeping,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const { db, clock, events, bytesMax, askedBy } = keeping;
  const recorder = new Recorder({ clock, bytesMax: bytesMax + marginBytes });
  let error = "";
  try {
    for await (const part of model.stream({ ...request, recorder }, signal)) {
      error = part.type === "failure" ? part.message : "";
      yield part;
    }
  } finally {
    const { exchanges } = recorder;
    const calls = exchanges.map((each) =>
      rowOf(each, { ...keeping, model, error: each === exchanges.at(-1) ? error : "" }),
    );
    await insertModelCalls(db, { runId: askedBy.runId, calls }).catch((trouble: unknown) =>
      events.databaseTroubled({ part: "model calls", error: trouble }),
    );
  }
}

function rowOf(
  { startMs, durationMs, path, sentHeaders, sent, status, headers, received }: RecordedExchange,
  { model, error, askedBy, hide, bytesMax }: Keeping & { readonly model: Model; readonly error: string },
): ModelCallRow {
  const [request, answer] = [sent, received].map((body) => cut(body, hide, bytesMax)) as [Cut, Cut];
  return {
    ...{ id: newUuid(startMs), turn: askedBy.turn, provider: model.provider, model: storableText(model.name) },
    ...{ create_time: new Date(startMs), duration_ms: Math.round(durationMs), path: storableText(path), status },
    request_headers: hide(plainHeaders(sentHeaders)),
    ...{ request: request.text, request_bytes: sent.bytes, is_request_cut: request.isCut },
    answer_headers: hide(plainHeaders(headers)),
    ...{ answer: answer.text, answer_bytes: received.bytes, is_answer_cut: answer.isCut },
    error: storableText(hide(error)),
  };
}

interface Cut {
  readonly text: string;
  readonly isCut: boolean;
}

/** Hides secrets, and then cuts. The margin of a body that was not recorded whole goes: it may begin a secret that has no end. */
function cut({ text, isWhole }: RecordedBody, hide: (text: string) => string, bytesMax: number): Cut {
  const hidden = Buffer.from(hide(storableText(text)));
  const keptMax = isWhole ? bytesMax : Math.max(0, Math.min(bytesMax, hidden.byteLength - marginBytes));
  const kept = hidden.subarray(0, keptMax);
  return { text: wholeCharacters(kept), isCut: !isWhole || kept.byteLength < hidden.byteLength };
}

/** A decoder keeps the bytes of a character that has no end. */
function wholeCharacters(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
