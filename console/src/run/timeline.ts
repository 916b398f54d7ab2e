// Folds a log into spans of time: what the run waited for, what its models and its tools took.
//
// The log says when a turn began, but not when its request was sent: a model's span is from the start of its turn to the first
// complete message or tool call. Calls of one turn are written together when the last has ended.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { timeOf } from "../../../src/platform/run-view/entry.ts";

export type SpanKind = "queue" | "turn" | "model" | "tool" | "wait" | "restart" | "mark";

/** Something that took time. */
export interface Span {
  readonly kind: SpanKind;
  readonly label: string;
  readonly sequence: number;
  readonly startMs: number;
  /** Undefined while it lasts. */
  endMs: number | undefined;
  /** When the first text arrived, in a model's span. */
  firstTextMs?: number;
  isFailed?: boolean;
  isVoid?: boolean;
}

/** A span takes about 150 bytes. */
const spansMax = 20_000;
/** So many are dropped at once: to drop one moves all others. */
const droppedAtOnce = 1_000;

/** The newest spans of a log, in the order of their start. */
export class Timeline {
  spans: Span[] = [];
  /** How many older spans are not kept. */
  dropped = 0;
  #turn: Span | undefined;
  #model: Span | undefined;
  #wait: Span | undefined;
  readonly #tools = new Map<string, Span>();

  /** Adds the next entry of the log. */
  add(entry: RunResult): void {
    const { payload } = entry;
    const timeMs = timeOf(entry);
    this.#wait = end(this.#wait, timeMs);
    switch (payload.case) {
      case "turnStarted":
        this.#model = end(this.#model, timeMs);
        this.#turn = end(this.#turn, timeMs);
        this.#turn = this.#open(entry, "turn", `turn ${payload.value.turn}`);
        this.#model = this.#open(entry, "model", "model");
        break;
      case "messageDelta":
      case "reasoningDelta":
        this.#model ??= this.#open(entry, "model", "message");
        this.#model.firstTextMs ??= timeMs;
        break;
      case "messageCompleted":
        this.#model = end(this.#model, timeMs);
        break;
      case "toolCallStarted":
        this.#model = end(this.#model, timeMs);
        this.#tools.set(payload.value.toolCallId, this.#open(entry, "tool", payload.value.toolName));
        break;
      case "toolCallCompleted": {
        const tool = this.#tools.get(payload.value.toolCallId);
        this.#tools.delete(payload.value.toolCallId);
        if (tool !== undefined) {
          tool.isFailed = payload.value.error !== undefined;
          end(tool, timeMs);
        }
        break;
      }
      case "turnRestarted":
        this.#endAll(timeMs);
        for (const span of this.spans) {
          span.isVoid = span.isVoid === true || span.sequence >= Number(payload.value.fromSequence);
        }
        end(this.#open(entry, "restart", "taken over"), timeMs);
        break;
      case "handoffCompleted":
        end(this.#open(entry, "mark", `handed over to ${payload.value.toAgent}`), timeMs);
        break;
      case "contextCompacted":
        end(this.#open(entry, "mark", `summary of ${payload.value.messages} messages`), timeMs);
        break;
      case "skillsListed":
        end(this.#open(entry, "mark", payload.value.changed.length > 0 ? "skills changed" : "skills"), timeMs);
        break;
      case "runWaiting":
        this.#endAll(timeMs);
        this.#wait = this.#open(entry, "wait", `waits: ${payload.value.reason}`);
        break;
      case "runCompleted":
      case "runFailed":
        this.#endAll(timeMs);
        break;
      default:
        break;
    }
  }

  #open(entry: RunResult, kind: SpanKind, label: string): Span {
    const span: Span = { kind, label, sequence: Number(entry.sequence), startMs: timeOf(entry), endMs: undefined };
    if (this.spans.length >= spansMax) {
      this.spans = this.spans.slice(droppedAtOnce);
      this.dropped += droppedAtOnce;
    }
    this.spans.push(span);
    return span;
  }

  #endAll(timeMs: number): void {
    for (const span of [this.#turn, this.#model, ...this.#tools.values()]) {
      end(span, timeMs);
    }
    this.#tools.clear();
    this.#turn = undefined;
    this.#model = undefined;
  }
}

function end(span: Span | undefined, timeMs: number): undefined {
  if (span !== undefined) {
    span.endMs ??= timeMs;
  }
}

/** A piece of the scale: a span of time and its place, from 0 to 1. */
interface Piece {
  readonly fromMs: number;
  readonly toMs: number;
  readonly from: number;
  readonly to: number;
  readonly isBreak: boolean;
}

/** Maps times to places. Long idle gaps are cut short. */
export interface Scale {
  /** Returns the place of a time, from 0 to 1. */
  readonly place: (timeMs: number) => number;
  readonly breaks: readonly Piece[];
}

/** A gap in which nothing worked is cut when it is longer than this share of the run. */
const gapShareMin = 0.1;
/** The share of the width that a cut gap keeps. */
const gapWidth = 0.04;

/** Makes the scale of a run from its spans. */
export function makeScale(spans: readonly Span[], startMs: number, endMs: number): Scale {
  const totalMs = Math.max(1, endMs - startMs);
  const gaps = findGaps(spans, startMs, endMs).filter(([from, to]) => to - from > totalMs * gapShareMin);
  const cutMs = gaps.reduce((sum, [from, to]) => sum + (to - from), 0);
  const isCut = gaps.length > 0 && cutMs < totalMs;
  const widthPerMs = isCut ? (1 - gapWidth * gaps.length) / (totalMs - cutMs) : 1 / totalMs;
  const pieces: Piece[] = [];
  let fromMs = startMs;
  let from = 0;
  const add = (toMs: number, width: number, isBreak: boolean): void => {
    pieces.push({ fromMs, toMs, from, to: from + width, isBreak });
    fromMs = toMs;
    from += width;
  };
  for (const [gapFromMs, gapToMs] of isCut ? gaps : []) {
    add(gapFromMs, (gapFromMs - fromMs) * widthPerMs, false);
    add(gapToMs, gapWidth, true);
  }
  add(endMs, (endMs - fromMs) * widthPerMs, false);
  return {
    breaks: pieces.filter(({ isBreak }) => isBreak),
    place: (timeMs) => {
      const piece = pieces.find(({ toMs }) => timeMs <= toMs) ?? pieces.at(-1);
      if (piece === undefined) {
        return 0;
      }
      const lengthMs = piece.toMs - piece.fromMs;
      const share = lengthMs <= 0 ? 0 : (timeMs - piece.fromMs) / lengthMs;
      return clamp(piece.from + clamp(share) * (piece.to - piece.from));
    },
  };
}

/** Returns the times in which neither a model nor a tool worked. */
function findGaps(spans: readonly Span[], startMs: number, endMs: number): [fromMs: number, toMs: number][] {
  const busy = spans
    .filter(({ kind }) => kind === "model" || kind === "tool")
    .sort((one, other) => one.startMs - other.startMs);
  const gaps: [number, number][] = [];
  let idleFromMs = startMs;
  for (const span of busy) {
    if (span.startMs > idleFromMs) {
      gaps.push([idleFromMs, span.startMs]);
    }
    idleFromMs = Math.max(idleFromMs, span.endMs ?? endMs);
  }
  return idleFromMs < endMs ? [...gaps, [idleFromMs, endMs]] : gaps;
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}
