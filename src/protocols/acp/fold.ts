// Turns the updates of a coding agent into results of the log.
//
// F1  A tool call is a call of the ledger: its start is committed, and its one outcome is committed with its result.
// F2  An update of a kind that this service does not know adds nothing. A field of the wrong type counts as unset.
// F3  What an agent adds to a call that has ended is too late: it begins no other call.

import { create } from "@bufbuild/protobuf";
import { type Message, MessageSchema, type ToolCall, ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import {
  PlanEntry_PrioritySchema,
  PlanEntry_Status,
  PlanEntry_StatusSchema,
  type ToolCallCompleted,
  ToolCallCompletedSchema,
} from "#gen/runnel/v1/result_pb.js";
import type { ResultInit } from "../../engine/log/result.ts";
import type { DriverStep } from "../../engine/runs/driver.ts";
import { firstCharacters } from "../../platform/base/first-characters.ts";
import { isObject } from "../../platform/base/json/parse-object.ts";
import { enumShape } from "../../platform/base/json/shape.ts";
import { errorCharsMax, messageCharsMax, textCharsMax } from "./limits.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A tool call of the agent that has no outcome yet. */
interface OpenCall {
  /** The number of the call in the run, by which the ledger has it. */
  readonly turn: number;
  readonly call: ToolCall;
  /** The newest value of each field that the agent has sent. */
  fields: Fields;
}

/** Options of a fold. */
export interface FoldOptions {
  /** The number of tool calls that the run has made before. */
  readonly calls: number;
  /** Removes secrets from a text. */
  readonly hide: (text: string) => string;
  /** Returns the checkpoint after this many tool calls, with the numbers of the open ones by their ids. */
  readonly checkpoint: (
    calls: number,
    open: Readonly<Record<string, number>>,
  ) => { readonly turn: number; readonly state: Uint8Array };
}

/** The results of one prompt. */
export class Fold {
  readonly #options: FoldOptions;
  readonly #open = new Map<string, OpenCall>();
  /** The ids of calls that have ended. */
  readonly #ended = new Set<string>();
  #calls: number;
  #text = "";
  /** The agent's id of the message; empty without one. */
  #messageId = "";
  /** How often another message began without a call in between. */
  #cuts = 0;
  #said: Message | undefined;
  #chars = 0;

  constructor(options: FoldOptions) {
    this.#options = options;
    this.#calls = options.calls;
  }

  /** The number of tool calls of the run. */
  get calls(): number {
    return this.#calls;
  }

  /** The characters of the updates so far. */
  get chars(): number {
    return this.#chars;
  }

  /** The last whole message of the agent. */
  get said(): Message | undefined {
    return this.#said;
  }

  /** Returns the steps of an update. */
  take(given: unknown): DriverStep[] {
    const update = this.clean(given);
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return this.#say(textOf(update.content), textIn(update, "messageId"));
      case "agent_thought_chunk": {
        const content = textOf(update.content);
        return content === "" ? [] : [append({ payload: { case: "reasoningDelta", value: { content } } })];
      }
      case "plan":
        return [append(planOf(update.entries))];
      case "tool_call":
      case "tool_call_update":
        return this.#takeCall(update);
      default:
        return [];
    }
  }

  /** Returns the steps before an agent's question about a call: the log has the call first. */
  takeAsked(toolCall: unknown): DriverStep[] {
    const call = this.clean(toolCall);
    return this.#open.has(textIn(call, "toolCallId")) ? [] : this.#takeCall({ ...call, status: "pending" });
  }

  /** Returns the steps that end the message, and all calls that the agent has left open. */
  end(): DriverStep[] {
    const results = this.#endMessage();
    const left = [...this.#open.values()].flatMap((open) =>
      this.#settle(open, { error: "the agent ended its turn without a result of this call" }),
    );
    return [...results.map(append), ...left];
  }

  /** Returns the fields of a value of the agent, without secrets and without halves of characters. */
  clean(given: unknown): Fields {
    const text = JSON.stringify(given) ?? "";
    this.#chars += text.length;
    const cleaned: unknown = JSON.parse(text || "null", (_, value) =>
      typeof value === "string" ? this.#options.hide(value).toWellFormed() : value,
    );
    return isObject(cleaned) ? cleaned : {};
  }

  #say(content: string, messageId: string): DriverStep[] {
    if (content === "") {
      return [];
    }
    // Readers get a message whole: one that is too long goes on as another.
    const isFull = this.#text.length + content.length > messageCharsMax;
    const isOther = this.#text !== "" && messageId !== "" && messageId !== this.#messageId;
    this.#cuts += isFull || isOther ? 1 : 0;
    const before = isFull || isOther ? this.#endMessage() : [];
    this.#messageId = messageId || this.#messageId;
    this.#text += content;
    const chunk = { role: "assistant", content, msgSequence: this.#calls + this.#cuts + 1 };
    return [...before, { payload: { case: "messageDelta", value: { chunk } } } as const].map(append);
  }

  #endMessage(): ResultInit[] {
    if (this.#text === "") {
      return [];
    }
    this.#said = create(MessageSchema, { role: "assistant", content: { case: "text", value: this.#text } });
    this.#text = "";
    return [{ payload: { case: "messageCompleted", value: { message: this.#said } } }];
  }

  #takeCall(update: Fields): DriverStep[] {
    const id = firstCharacters(textIn(update, "toolCallId"), idCharsMax);
    if (update.sessionUpdate === "tool_call_update" && !this.#open.has(id) && this.#ended.has(id)) {
      return [];
    }
    const known = this.#open.get(id);
    const steps = known === undefined ? this.#start(id, update) : [];
    const open = known ?? this.#open.get(id);
    if (open === undefined) {
      return steps;
    }
    const title = textIn(open.fields, "title");
    open.fields = {
      ...open.fields,
      ...Object.fromEntries(Object.entries(update).filter(([, value]) => value != null)),
    };
    switch (update.status) {
      case "completed":
        return [...steps, ...this.#settle(open, { result: JSON.stringify(resultOf(open.fields)) })];
      case "failed":
        return [...steps, ...this.#settle(open, { error: errorOf(open.fields) })];
      default: {
        const message = textIn(open.fields, "title");
        return known === undefined || message === title ? steps : [append(progressOf(open, message))];
      }
    }
  }

  #start(id: string, update: Fields): DriverStep[] {
    if (id === "") {
      return [];
    }
    this.#calls += 1;
    const turn = this.#calls;
    const parameters = JSON.stringify(parametersOf(update));
    const call = create(ToolCallSchema, { id, name: nameOf(update), arguments: parameters });
    this.#open.set(id, { turn, call, fields: update });
    const value = { toolCallId: id, toolName: call.name, parameters };
    return [
      {
        kind: "commit",
        results: [...this.#endMessage(), { payload: { case: "toolCallStarted", value } }],
        effects: {
          toolCalls: { turn, calls: [{ call, approval: undefined }] },
          checkpoint: this.#checkpoint(),
        },
      },
    ];
  }

  #checkpoint() {
    const open = [...this.#open.values()].map(({ call, turn }) => [call.id, turn] as const);
    return this.#options.checkpoint(this.#calls, Object.fromEntries(open));
  }

  #settle({ turn, call }: OpenCall, end: { result: string } | { error: string }): DriverStep[] {
    this.#open.delete(call.id);
    this.#ended.add(call.id);
    return [settleCall({ turn, call, end, checkpoint: this.#checkpoint() })];
  }
}

/** Returns the step that gives a call its outcome. */
export function settleCall(args: {
  turn: number;
  call: ToolCall;
  end: { result: string } | { error: string };
  checkpoint: { readonly turn: number; readonly state: Uint8Array };
}): DriverStep {
  const { turn, call, end, checkpoint } = args;
  const outcome: ToolCallCompleted = create(ToolCallCompletedSchema, {
    toolCallId: call.id,
    toolName: call.name,
    ...end,
  });
  return {
    kind: "commit",
    results: [{ payload: { case: "toolCallCompleted", value: outcome } }],
    effects: { toolOutcome: { turn, position: 0, outcome }, toolResultsOfTurn: turn, checkpoint },
  };
}

/** The maximum length of the id of a call. */
const idCharsMax = 256;

function append(result: ResultInit): DriverStep {
  return { kind: "append", result };
}

function planOf(entries: unknown): ResultInit {
  const plan = (Array.isArray(entries) ? entries.filter(isObject) : []).map((entry) => ({
    text: firstCharacters(textIn(entry, "content"), textCharsMax),
    status: statuses.get(textIn(entry, "status")) ?? PlanEntry_Status.PENDING,
    priority: priorities.get(textIn(entry, "priority")) ?? 0,
  }));
  return { payload: { case: "planUpdated", value: { entries: plan } } };
}

const statuses = enumShape(PlanEntry_StatusSchema).numbers;
const priorities = enumShape(PlanEntry_PrioritySchema).numbers;

function progressOf({ call }: OpenCall, message: string): ResultInit {
  const value = { toolCallId: call.id, toolName: call.name, message: firstCharacters(message, errorCharsMax) };
  return { payload: { case: "toolCallProgress", value } };
}

/** Returns the tool's own name where the agent gives it, otherwise the kind of the call: `edit`, `execute` and so on. */
function nameOf(call: Fields): string {
  return firstCharacters(textIn(call, "name") || textIn(call, "kind") || "other", idCharsMax);
}

/** Returns what a call is about to do: its title, its places and its input. */
export function parametersOf(call: Fields): object {
  const diffs = diffsOf(call.content);
  return {
    title: cut(textIn(call, "title")),
    ...(textIn(call, "kind") !== "" && { kind: call.kind }),
    ...(Array.isArray(call.locations) && call.locations.length > 0 && { locations: fitting(call.locations) }),
    ...(call.rawInput !== undefined && { input: fitting(call.rawInput) }),
    ...(diffs.length > 0 && { diffs }),
  };
}

function resultOf(call: Fields): object {
  return {
    content: cut(contentTexts(call.content)),
    ...parametersOf(call),
    ...(call.rawOutput !== undefined && { output: fitting(call.rawOutput) }),
  };
}

function errorOf(call: Fields): string {
  const raw = typeof call.rawOutput === "string" ? call.rawOutput : JSON.stringify(call.rawOutput);
  return firstCharacters(contentTexts(call.content) || raw || "the call failed without a reason", errorCharsMax);
}

/** Returns the changes of files: whole texts before and after. A new file has no text before. */
function diffsOf(content: unknown): object[] {
  return itemsOf(content)
    .filter(({ type }) => type === "diff")
    .map((diff) => ({
      path: textIn(diff, "path"),
      ...(typeof diff.oldText === "string" && { old_text: cut(diff.oldText) }),
      new_text: cut(textIn(diff, "newText")),
    }));
}

function contentTexts(content: unknown): string {
  return itemsOf(content)
    .map((item) => (item.type === "content" ? textOf(item.content) : ""))
    .filter((text) => text !== "")
    .join("\n");
}

/** Returns the text of a block. Of a link it is the address; an image has none. */
function textOf(block: unknown): string {
  const fields = isObject(block) ? block : {};
  switch (fields.type) {
    case "text":
      return textIn(fields, "text");
    case "resource_link":
      return textIn(fields, "uri");
    case "resource":
      return isObject(fields.resource) ? textIn(fields.resource, "text") : "";
    default:
      return "";
  }
}

function itemsOf(content: unknown): Fields[] {
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? value : "";
}

function cut(text: string): string {
  return text.length <= textCharsMax ? text : `${firstCharacters(text, textCharsMax)}… (cut)`;
}

/** Returns the value; a note when it is too long for the log. */
function fitting(value: unknown): unknown {
  const { length } = JSON.stringify(value) ?? "";
  return length <= textCharsMax ? value : `(${length} characters)`;
}
