// Folds a log into the rows of a transcript: one row for each message, tool call and event, not one for each entry.
//
// T1  A row changes only with its version, so that a component renders again only what has changed.
// T2  Rows from a void entry on stay and are marked: a reader has seen their text.
// T3  A message in whose middle a call came has a row for each piece of its text, and no text is in two rows.
// T4  A text of which the entry has only the beginning is that of the pieces before it when they begin like it and are as long. Any
//     other one is in `cut` until `fill` takes the whole entry.
// T5  With a limit, a message that is being written keeps its end. It is whole again when it is complete.

import type { Citation, Message } from "#gen/runnel/v1/message_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { textOf, textOfEntry, timeOf, typeName } from "./entry.ts";
import { GrowingText } from "./growing-text.ts";
import { makeMessage, type Payload, type Row, type RowContent } from "./row.ts";

/** A text of which an entry has only the beginning. */
interface CutText {
  /** Its row, and all that is shown of it there and in the rows before. */
  readonly row: Row;
  readonly shown: string;
}

/** The rows of a log. */
export class Transcript {
  readonly rows: Row[] = [];
  /** The newest plan of the run. It has no row: it stands above them. */
  plan: Payload<"planUpdated"> | undefined;
  /** Whether a call has started a run of its own. */
  hasChildren = false;
  /** The texts to fill, by the sequence of their entry. */
  readonly cut = new Map<number, CutText>();
  #charsMax: number;
  readonly #growing = new GrowingText();
  /** The row that the next piece of text belongs to. */
  #open: Row | undefined;
  /** The rows with the text of the message that is not complete yet. */
  #pieces: Row[] = [];
  readonly #tools = new Map<string, Row>();

  /** Without `charsMax`, each text is kept whole. */
  constructor(charsMax = Number.POSITIVE_INFINITY) {
    this.#charsMax = charsMax;
  }

  /** Gives the texts that are not complete yet another limit. */
  limitTexts(charsMax: number): void {
    this.#charsMax = charsMax;
    for (const row of this.#pieces) {
      if (row.content.kind === "message") {
        this.#dropStart(row.content);
        row.version += 1;
      }
    }
  }

  /** Adds the next entry of the log. */
  add(entry: RunResult): void {
    const { payload } = entry;
    if (entry.purgedSha256 !== "") {
      this.#push(entry, { kind: "purged", what: typeName(entry), sha256: entry.purgedSha256 });
      return;
    }
    switch (payload.case) {
      case "messageDelta":
        this.#addText(entry, payload.value);
        break;
      case "messageCompleted":
        this.#complete(entry, payload.value.message);
        this.#cite(entry, payload.value.message?.citations ?? []);
        break;
      case "reasoningDelta":
        this.#addReasoning(entry, payload.value.content);
        break;
      case "toolCallStarted":
        this.#startTool(entry, payload.value);
        break;
      case "toolCallCompleted":
        this.#endTool(entry, payload.value);
        break;
      case "turnStarted":
        this.#push(entry, { kind: "turn", turn: payload.value.turn });
        break;
      case "turnRestarted":
        this.#restart(entry, payload.value);
        break;
      case "runWaiting":
        this.#push(entry, { kind: "waiting", value: payload.value });
        break;
      case "approvalRequested":
        this.#push(entry, { kind: "approval", value: payload.value });
        break;
      case "artifactCreated":
        this.#push(entry, { kind: "artifact", value: payload.value });
        break;
      case "stateUpdated":
        this.#push(entry, { kind: "state", value: payload.value });
        break;
      case "handoffCompleted":
        this.#push(entry, { kind: "handoff", value: payload.value });
        break;
      case "contextCompacted":
        this.#push(entry, { kind: "summary", value: payload.value });
        break;
      case "actionRequested":
        this.#push(entry, { kind: "action", value: payload.value });
        break;
      case "resultLost":
        this.#push(entry, { kind: "lost" });
        break;
      case "extension":
        this.#push(entry, { kind: "extension", ...payload.value });
        break;
      case "childRunStarted":
        this.#startChild(payload.value);
        break;
      case "runCompleted":
        this.#end(entry, payload.value);
        break;
      case "runFailed":
        this.#push(entry, { kind: "failed", value: payload.value });
        break;
      case "planUpdated":
        this.plan = payload.value;
        break;
      case "skillsListed":
        this.#push(entry, { kind: "skills", value: payload.value });
        break;
      case "toolCallProgress":
      case "toolsChanged":
        // The raw tab has them; the row of the call shows that it runs.
        break;
      case undefined:
        // A type that is newer than this page: the raw tab has its bytes.
        break;
      default:
        payload satisfies never;
    }
  }

  #addText(entry: RunResult, { chunk }: Payload<"messageDelta">): void {
    if (chunk === undefined) {
      return;
    }
    const row = this.#openRow(entry, "message") ?? this.#beginText(entry, chunk.role);
    if (row.content.kind === "message") {
      const { text, charsDropped } = row.content;
      row.content.text = chunk.replacesText ? chunk.content : this.#growing.append(text, chunk.content);
      row.content.charsDropped = chunk.replacesText ? 0 : charsDropped;
      row.content.isLive = !chunk.isFinal;
      this.#dropStart(row.content);
    }
  }

  #beginText(entry: RunResult, role: string): Row {
    const row = this.#push(entry, makeMessage(role), true);
    this.#pieces.push(row);
    return row;
  }

  #complete(entry: RunResult, message: Message | undefined): void {
    const text = textOf(message);
    const row = this.#openRow(entry, "message");
    const shown = this.#pieces.map(({ content }) => (content.kind === "message" ? content.text : "")).join("");
    this.#pieces = [];
    if (text === "" || isShown(text, shown, entry.bytesLeftOut)) {
      this.#close();
      return;
    }
    if (row !== undefined) {
      this.#setText(entry, { row, shown }, text);
    } else if (message?.role !== "tool") {
      this.#pushText(entry, message?.role ?? "", text);
    }
    this.#close();
  }

  #pushText(entry: RunResult, role: string, text: string): void {
    const row = this.#push(entry, { ...makeMessage(role), text });
    this.#setText(entry, { row, shown: text }, text);
  }

  /** Gives a row the text of an entry; the beginning of one must not take the place of more. */
  #setText({ sequence, bytesLeftOut }: RunResult, cut: CutText, text: string): void {
    if (bytesLeftOut > 0) {
      this.cut.set(Number(sequence), cut);
    } else if (cut.row.content.kind === "message") {
      cut.row.content.text = text;
      cut.row.content.charsDropped = 0;
      cut.row.version += 1;
    }
  }

  /** Takes the whole form of an entry whose text is in `cut`. */
  fill(entry: RunResult): void {
    const cut = this.cut.get(Number(entry.sequence));
    this.cut.delete(Number(entry.sequence));
    const text = textOfEntry(entry);
    if (cut !== undefined && !isShown(text, cut.shown, 0)) {
      this.#setText(entry, cut, text);
    }
  }

  #cite(entry: RunResult, citations: readonly Citation[]): void {
    if (citations.length > 0) {
      this.#push(entry, { kind: "sources", citations });
    }
  }

  #addReasoning(entry: RunResult, text: string): void {
    const row =
      this.#openRow(entry, "reasoning") ?? this.#push(entry, { kind: "reasoning", text: "", isLive: true }, true);
    if (row.content.kind === "reasoning") {
      row.content.text = this.#growing.append(row.content.text, text);
    }
  }

  /** Drops a fifth at once: each drop copies the rest. */
  #dropStart(content: Extract<RowContent, { kind: "message" }>): void {
    if (content.text.length > this.#charsMax) {
      const dropped = content.text.length - Math.floor(this.#charsMax * 0.8);
      content.text = content.text.slice(dropped);
      content.charsDropped += dropped;
    }
  }

  #startTool(entry: RunResult, { toolCallId, toolName, parameters, runByProvider }: Payload<"toolCallStarted">): void {
    const content = { kind: "tool", name: toolName, parameters, isOfProvider: runByProvider, ...unanswered } as const;
    this.#tools.set(toolCallId, this.#push(entry, { ...content }));
  }

  #startChild({ toolCallId, runId }: Payload<"childRunStarted">): void {
    this.hasChildren = true;
    const row = this.#tools.get(toolCallId);
    if (row?.content.kind === "tool") {
      row.content.childRunId = runId;
      row.version += 1;
    }
  }

  #endTool(
    entry: RunResult,
    { toolCallId, toolName, result, error, runByProvider }: Payload<"toolCallCompleted">,
  ): void {
    const row =
      this.#tools.get(toolCallId) ??
      this.#push(entry, {
        kind: "tool",
        name: toolName,
        parameters: "{}",
        isOfProvider: runByProvider,
        ...unanswered,
      });
    this.#tools.delete(toolCallId);
    if (row.content.kind === "tool") {
      Object.assign(row.content, { result, error, endMs: timeOf(entry), endSequence: Number(entry.sequence) });
      row.lastSequence = Number(entry.sequence);
      row.version += 1;
    }
  }

  #restart(entry: RunResult, { turn, fromSequence }: Payload<"turnRestarted">): void {
    this.#close();
    this.#pieces = [];
    for (let index = this.rows.length - 1; index >= 0; index -= 1) {
      const row = this.rows[index];
      if (row === undefined || row.sequence < Number(fromSequence)) {
        break;
      }
      row.isVoid = true;
      row.version += 1;
    }
    this.#push(entry, { kind: "restart", turn, fromSequence: Number(fromSequence) });
  }

  #end(entry: RunResult, value: Payload<"runCompleted">): void {
    const output = textOfEntry(entry);
    const hasText = this.rows.some(({ content, isVoid }) => content.kind === "message" && !isVoid);
    if (!hasText && output !== "") {
      this.#pushText(entry, "assistant", output);
    }
    this.#push(entry, { kind: "completed", value });
  }

  /** Returns the open row when it is of this kind, counted as changed. */
  #openRow(entry: RunResult, kind: RowContent["kind"]): Row | undefined {
    const row = this.#open;
    if (row?.content.kind !== kind) {
      return undefined;
    }
    row.lastSequence = Number(entry.sequence);
    row.version += 1;
    return row;
  }

  #push(entry: RunResult, content: RowContent, opens = false): Row {
    this.#close();
    const sequence = Number(entry.sequence);
    const row = { sequence, lastSequence: sequence, timeMs: timeOf(entry), content, isVoid: false, version: 0 };
    this.rows.push(row);
    if (opens) {
      this.#open = row;
    }
    return row;
  }

  #close(): void {
    if (this.#open !== undefined && "isLive" in this.#open.content) {
      this.#open.content.isLive = false;
      this.#open.version += 1;
    }
    this.#open = undefined;
  }
}

const unanswered = {
  result: undefined,
  error: undefined,
  endMs: undefined,
  endSequence: undefined,
  childRunId: undefined,
};

/** Returns whether the text of an entry is what the pieces before it have shown. Providers leave out blanks at the ends. */
function isShown(text: string, shown: string, bytesLeftOut: number): boolean {
  return bytesLeftOut === 0
    ? text.trim() === shown.trim()
    : shown.startsWith(text) && byteLength(shown) === byteLength(text) + bytesLeftOut;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
