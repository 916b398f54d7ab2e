// Reads the input of a response: a text, or items. Items of one response of a model become one message.

import { create } from "@bufbuild/protobuf";
import { type Message, MessageSchema, type ToolCall } from "#gen/runnel/v1/message_pb.js";
import { serverToolNameOf } from "../../platform/base/mcp-names.ts";
import { argumentsOfText } from "./caller-tools.ts";
import { readContent } from "./content.ts";
import { ApiError, invalid, unsupported } from "./errors.ts";
import { Fields } from "./fields.ts";
import { isRunByOpenAi, localToolOfCall, localToolOfOutput } from "./local-tools.ts";
import { callOf, endWithUser, messageOf, readRole, resultMessage, textMessage } from "./messages.ts";
import { modelNameOf } from "./namespaces.ts";
import { openState, openSummary, type SealedCall } from "./sealed-state.ts";
import { serverLabel } from "./tools.ts";

/** The items that references name, by their ids. One of the conversation itself has no items. */
export type References = ReadonlyMap<string, readonly unknown[]>;

/** Returns the messages in `input` of a response. */
export function readInput(request: Fields, references: References): readonly Message[] {
  const input = request.find("input");
  if (typeof input === "string") {
    return [textMessage("user", input)];
  }
  const messages = readItems(request, "input", references);
  if (messages.length === 0 && request.find("previous_response_id") === undefined) {
    throw invalid("input", "give a text or a list of items");
  }
  return endWithUser(messages);
}

/** Returns the messages in a list of items; none when it is missing. */
export function readItems(request: Fields, name: string, references: References = new Map()): readonly Message[] {
  const reader = new InputReader(references);
  for (const [index, item] of (request.findItems(name) ?? []).entries()) {
    reader.add(new Fields(item, request.at(`${name}[${index}]`)));
  }
  return reader.messages();
}

/** Returns the ids in the references of an input. */
export function referredIds(request: Fields): readonly string[] {
  const references = itemsOfInput(request).filter((item) => item.find("type") === "item_reference");
  return references.map((item) => item.requireText("id"));
}

/** Returns the tools that an input offers in items of its own: as such, or as what a search of the caller's has found. */
export function toolsOfInput(request: Fields): readonly Fields[] {
  return itemsOfInput(request).flatMap((item) => {
    const type = item.find("type");
    const offers = type === toolsType || (type === "tool_search_output" && item.find("execution") === "client");
    return offers ? (item.findObjects("tools") ?? []) : [];
  });
}

const toolsType = "additional_tools";

/** Returns the object that has a setting: the last update of it in the input, or the request. */
export function ownerOf(request: Fields, setting: "reasoning" | "text"): Fields {
  const isUpdate = (item: Fields) => item.find("type") === updateType && item.find(setting) !== undefined;
  // An update replaces what the request has.
  request.ignore(setting);
  return itemsOfInput(request).findLast(isUpdate) ?? request;
}

const updateType = "configuration_update";

/** Returns the items of an input: a text has none. */
export function itemsOfInput(request: Fields): readonly Fields[] {
  return Array.isArray(request.find("input")) ? (request.findObjects("input") ?? []) : [];
}

/** Items of tools that a provider has run. Models get them from the transcript, or from the state of their response. */
const itemsOfProviders: ReadonlySet<string> = new Set([
  "code_interpreter_call",
  "computer_call",
  "computer_call_output",
  "file_search_call",
  "image_generation_call",
  // Answers that end the input are read before the rest.
  "mcp_approval_request",
  "mcp_approval_response",
  "mcp_list_tools",
  "web_search_call",
]);

class InputReader {
  readonly #references: References;
  readonly #messages: Message[] = [];
  /** The ids of calls that OpenAI has answered. */
  readonly #callsOfOpenAi = new Set<unknown>();
  /** The calls of the latest response whose state came with its items, by their names, the first one last. */
  #stateCalls = new Map<string, SealedCall[]>();

  constructor(references: References) {
    this.#references = references;
  }

  /** A response of which only the thoughts were sent says nothing. */
  messages(): readonly Message[] {
    const said = this.#messages.filter(({ role, content, toolCalls }) => {
      return role !== "assistant" || content.case !== undefined || toolCalls.length > 0;
    });
    return besideCalls(said);
  }

  add(item: Fields): void {
    const type = item.findText("type") ?? "message";
    if (itemsOfProviders.has(type) || this.#isRunByOpenAi(type, item)) {
      return;
    }
    this.#addItem(type, item);
    item.ignore("id", "status", "phase", "caller", "created_by", "internal_chat_message_metadata_passthrough");
    item.assertAllRead();
  }

  /** The output of a shell in a container does not say where it ran: its call does. */
  #isRunByOpenAi(type: string, item: Fields): boolean {
    if (isRunByOpenAi(type, item)) {
      this.#callsOfOpenAi.add(item.find("call_id"));
      return true;
    }
    return localToolOfOutput(type) !== undefined && this.#callsOfOpenAi.has(item.find("call_id"));
  }

  #addItem(type: string, item: Fields): void {
    switch (type) {
      case "message":
        this.#addMessage(messageOf(readRole(item), readContent(item, "content")));
        return;
      case "agent_message":
        this.#addMessage(messageOf("user", readContent(item, "content")));
        item.ignore("author", "recipient");
        return;
      case "function_call":
        this.#addCall(callOf(item.requireText("call_id"), readName(item), item.requireText("arguments")));
        return;
      case "custom_tool_call": {
        const json = argumentsOfText(item.requireText("input"));
        this.#addCall(callOf(item.requireText("call_id"), readName(item), json));
        return;
      }
      case "function_call_output":
      case "custom_tool_call_output":
        this.#messages.push(resultMessage(item.requireText("call_id"), readContent(item, "output")));
        item.ignore("name");
        return;
      case "mcp_call":
        this.#addServerCall(item);
        return;
      case "reasoning":
        this.#addState(item.findText("encrypted_content") ?? "");
        item.ignore("summary", "content");
        return;
      case "compaction":
        this.#addSummary(item);
        return;
      case "item_reference":
        this.#addReferred(item);
        return;
      case toolsType:
        item.ignore("role", "tools");
        return;
      case updateType:
        item.ignore("reasoning", "text");
        return;
      default:
        this.#addLocal(type, item);
    }
  }

  /** Adds a call of a tool that OpenAI names and the caller runs, or the result of one. */
  #addLocal(type: string, item: Fields): void {
    const called = localToolOfCall(type);
    const answered = localToolOfOutput(type);
    if (called !== undefined) {
      this.#addCall(callOf(callIdOf(item), called.name, JSON.stringify(called.tool.argumentsOf(item))));
    } else if (answered !== undefined) {
      this.#messages.push(resultMessage(callIdOf(item), [{ type: "text", text: answered.resultOf(item) }]));
    } else {
      throw unsupported(item.at("type"), `items of type ${type} are not supported`);
    }
    item.ignore("execution");
  }

  /** A text of a model joins the state of its response, when that came first. */
  #addMessage(message: Message): void {
    const last = this.#messages.at(-1);
    if (message.role === "assistant" && last?.role === "assistant" && isHollow(last)) {
      last.content = message.content;
    } else {
      this.#messages.push(message);
    }
  }

  /** A call belongs to the assistant's message before it: one response of the model. */
  #addCall(call: ToolCall): void {
    this.#answer().toolCalls.push(call);
  }

  /** A call of this service's own tool, which the caller sends back with the answer before. */
  #addServerCall(item: Fields): void {
    const name = nameInServer(item);
    const known = this.#stateCalls.get(name)?.pop();
    const call = callOf(known?.id ?? item.requireText("id"), name, item.requireText("arguments"));
    this.#addCall(call);
    const output = item.findText("output") ?? `Error: ${JSON.stringify(item.find("error") ?? "")}`;
    this.#messages.push(resultMessage(call.id, [{ type: "text", text: output }]));
    item.ignore("error", "approval_request_id", "response_id");
  }

  /** Models without a state of ours get their own reasoning from the transcript. */
  #addState(text: string): void {
    const sealed = openState(text);
    const last = this.#messages.at(-1);
    if (sealed === undefined || (last?.role === "assistant" && last.providerSpecificFields === sealed.state)) {
      return;
    }
    const answer = last?.providerSpecificFields === undefined ? this.#answer() : this.#begin();
    answer.providerSpecificFields = sealed.state;
    this.#stateCalls = Map.groupBy(sealed.calls.toReversed(), ({ name }) => name);
  }

  /** A summary that this service has made of an earlier conversation. */
  #addSummary(item: Fields): void {
    const summary = openSummary(item.requireText("encrypted_content"));
    if (summary === undefined) {
      throw invalid(item.at("encrypted_content"), "must be the one that POST /v1/responses/compact gave");
    }
    this.#messages.push(textMessage("user", `Summary of the conversation so far:\n${summary}`));
  }

  #addReferred(item: Fields): void {
    const id = item.requireText("id");
    const referred = this.#references.get(id);
    if (referred === undefined) {
      const message = `Item with id '${id}' not found.`;
      throw new ApiError(404, { message, param: item.at("id"), code: "not_found" });
    }
    for (const each of referred) {
      this.add(new Fields(each, item.path));
    }
  }

  /** Returns the answer that is being read. */
  #answer(): Message {
    const last = this.#messages.at(-1);
    return last?.role === "assistant" ? last : this.#begin();
  }

  #begin(): Message {
    const message = create(MessageSchema, { role: "assistant" });
    this.#messages.push(message);
    return message;
  }
}

/**
 * Returns the messages with the results of each call behind it. OpenAI takes them anywhere after the call, and models of others do not. A
 * result whose call is not here answers the response before.
 */
function besideCalls(messages: readonly Message[]): readonly Message[] {
  const before: Message[] = [];
  const groups: Message[][] = [before];
  const groupOfCall = new Map<string, Message[]>();
  for (const message of messages) {
    if (message.role === "tool") {
      (groupOfCall.get(message.toolCallId ?? "") ?? before).push(message);
      continue;
    }
    const group = [message];
    groups.push(group);
    for (const { id } of message.toolCalls) {
      groupOfCall.set(id, group);
    }
  }
  return groups.flat();
}

function isHollow({ content, toolCalls }: Message): boolean {
  return content.case === undefined && toolCalls.length === 0;
}

/** Models know a tool of another server by the names of both. */
function nameInServer(item: Fields): string {
  const name = item.requireText("name");
  const server = item.findText("server_label") ?? serverLabel;
  return server === serverLabel ? name : serverToolNameOf(`${server}_`, name);
}

/** The result of a local shell has the id of its call alone. */
function callIdOf(item: Fields): string {
  return item.findText("call_id") ?? item.requireText("id");
}

function readName(item: Fields): string {
  return modelNameOf(item.requireText("name"), item.findText("namespace"));
}
