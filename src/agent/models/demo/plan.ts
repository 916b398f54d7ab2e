// Plans the next step of the demo model: fixed rules over the last user message and the tool results after it. Pure.

import type { ModelMessage, ModelRequest, ModelToolCall } from "../model.ts";

/** A tool call of this exchange that has its result. */
export interface ToolOutcome {
  readonly toolName: string;
  readonly text: string;
}

/** The part of the conversation that the demo model reads: the last user message and everything after it. */
export interface Exchange {
  readonly userText: string;
  readonly outcomes: readonly ToolOutcome[];
  /** Calls in the whole conversation so far; new ids continue this count. */
  readonly callsBefore: number;
}

/** Returns the last exchange of a conversation. */
export function readExchange(messages: readonly ModelMessage[]): Exchange {
  const start = messages.findLastIndex((message) => message.role === "user");
  const user = messages[start];
  return {
    userText: user?.role === "user" ? user.text : "",
    outcomes: messages
      .slice(start + 1)
      .filter((message) => message.role === "tool")
      .map(({ toolName, text }) => ({ toolName, text })),
    callsBefore: messages.reduce(
      (sum, message) => sum + (message.role === "assistant" ? message.toolCalls.length : 0),
      0,
    ),
  };
}

/** Returns the next calls, only to available tools; empty when the model should answer. Same input, same calls and ids. */
export function planCalls(exchange: Exchange, tools: ModelRequest["tools"]): ModelToolCall[] {
  const wanted = exchange.outcomes.length === 0 ? planFirst(exchange.userText) : planSecond(exchange);
  return wanted
    .filter((call) => tools.some((tool) => tool.name === call.name))
    .map((call, index) => ({
      id: `demo-call-${exchange.callsBefore + index + 1}`,
      name: call.name,
      argumentsJson: JSON.stringify(call.args),
    }));
}

interface WantedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, string>>;
}

// As many as run in parallel in one turn.
const filesMax = 5;

const listingWords = /\b(list|ls|files?|director(y|ies)|folders?)\b/i;
const exploringWords = /\b(explore|look around)\b/i;

/** "Ask the researcher: Find facts.", a line for each agent. */
const askingWords = /^ask the ([\w-]{1,64}): *(\S.*)$/gim;

function planFirst(userText: string): WantedCall[] {
  const asked = Array.from(userText.matchAll(askingWords), ([, name = "", message = ""]) => ({
    name,
    args: { message },
  }));
  if (asked.length > 0) {
    return asked;
  }
  const files = findFileNames(userText);
  // "Read the file a.txt" names a file, so it does not ask for a listing.
  const lists =
    exploringWords.test(userText) || (files.length === 0 && listingWords.test(userText)) || /\blist\b/i.test(userText);
  return [...(lists ? [{ name: "list_dir", args: {} }] : []), ...files.map(readFile)];
}

function planSecond({ userText, outcomes }: Exchange): WantedCall[] {
  if (!exploringWords.test(userText) || outcomes.some((outcome) => outcome.toolName !== "list_dir")) {
    return [];
  }
  const readme = outcomes
    .flatMap((outcome) => outcome.text.split("\n"))
    .find((line) => /^readme(\.\w+)?\t/i.test(line));
  return readme === undefined ? [] : [readFile(readme.slice(0, readme.indexOf("\t")))];
}

function readFile(path: string): WantedCall {
  return { name: "read_file", args: { file_path: path } };
}

function findFileNames(text: string): string[] {
  const bare = text.split(/\s+/).map((token) => token.replace(/^["'`(]+|(?<!["'`).,:;!?])["'`).,:;!?]+$/g, ""));
  return [...new Set(bare.filter(isFileName))].slice(0, filesMax);
}

function isFileName(token: string): boolean {
  return /^[\w@./-]*[\w-]\.[A-Za-z]\w{0,7}$/.test(token) && !/^(e\.g|i\.e|www\..*)$/i.test(token);
}
