// The surfaces that speak other protocols: what they read, and the events that they make of a log.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { RunResultSchema, StateUpdated_Scope } from "#gen/runnel/v1/result_pb.js";
import type { SessionMessage } from "#gen/runnel/v1/session_service_pb.js";
import { AgUiFold } from "../../../src/surfaces/ag-ui/fold.ts";
import { readRunInput } from "../../../src/surfaces/ag-ui/input.ts";
import { findNewInput } from "../../../src/surfaces/ag-ui/thread.ts";
import { Fields } from "../../../src/surfaces/openai/fields.ts";
import { ResponseFold } from "../../../src/surfaces/openai/fold.ts";
import { readInput } from "../../../src/surfaces/openai/input.ts";
import { readChatMessages } from "../../../src/surfaces/openai/messages.ts";
import { readRequest } from "../../../src/surfaces/openai/response-request.ts";
import { readTools } from "../../../src/surfaces/openai/tools.ts";
import type { GrowthCase } from "../growth.ts";

type Payload = NonNullable<MessageInitShape<typeof RunResultSchema>["payload"]>;

const delta: Payload = { case: "messageDelta", value: { chunk: { role: "assistant", content: "word " } } };
const thought: Payload = { case: "reasoningDelta", value: { content: "hm " } };
const spoken: Payload = { case: "messageCompleted", value: { message: { role: "assistant" } } };

function turnStarted(turn: number): Payload {
  return { case: "turnStarted", value: { turn } };
}

function callStarted(at: number): Payload {
  return { case: "toolCallStarted", value: { toolCallId: `c${at}`, toolName: "t", parameters: "{}" } };
}

function callCompleted(at: number): Payload {
  return { case: "toolCallCompleted", value: { toolCallId: `c${at}`, toolName: "t", result: '{"content":"x"}' } };
}

function approval(at: number): Payload {
  return { case: "approvalRequested", value: { toolCallId: `c${at}`, approvalId: `a${at}` } };
}

function numbers(size: number): number[] {
  return Array.from({ length: Math.ceil(size) }, (_, at) => at);
}

const logs: Readonly<Record<string, (size: number) => Payload[]>> = {
  "many pieces of text": (size) => [turnStarted(1), ...numbers(size).map(() => delta), spoken],
  "many thoughts": (size) => [turnStarted(1), ...numbers(size).map(() => thought), spoken],
  "text and thoughts in turns": (size) => numbers(size / 2).flatMap(() => [thought, delta]),
  "many calls": (size) => [
    turnStarted(1),
    ...numbers(size / 2).map(callStarted),
    ...numbers(size / 2).map(callCompleted),
  ],
  "text after many calls": (size) => [
    turnStarted(1),
    ...numbers(size / 2).map(callStarted),
    ...numbers(size / 2).map(callCompleted),
    turnStarted(2),
    ...numbers(size / 2).map(() => delta),
  ],
  "many turns": (size) =>
    numbers(size / 4).flatMap((at) => [turnStarted(at + 1), delta, callStarted(at), callCompleted(at)]),
  "many values of the state": (size) =>
    numbers(size / 2).map((at) => ({
      case: "stateUpdated",
      value: { scope: StateUpdated_Scope.RUNNER, key: `k${at}`, value: "1" },
    })),
  "many approvals": (size) => [
    turnStarted(1),
    ...numbers(size / 4).map(callStarted),
    ...numbers(size / 4).map(approval),
    { case: "runWaiting", value: { reason: "approval" } },
    ...numbers(size / 4).map(callCompleted),
  ],
  "many calls that the caller makes": (size) => [
    turnStarted(1),
    {
      case: "runCompleted",
      value: {
        finishReason: "tool-calls",
        pendingToolCalls: numbers(size / 4).map((at) => ({ id: `c${at}`, name: "f", arguments: "{}" })),
      },
    },
  ],
};

const runId = "0199aaaa-0000-7000-8000-000000000001";
const echo = {
  background: false,
  store: true,
  hasInstructions: false,
  previous_response_id: null,
  metadata: {},
  tools: [],
  tool_choice: "auto",
  reasoning: null,
  user: null,
  safety_identifier: null,
  prompt_cache_key: null,
};
const folds = {
  ResponseFold: () => new ResponseFold({ runId, sessionId: "s", after: 0, agent: undefined, echo }),
  AgUiFold: () =>
    new AgUiFold({
      threadId: "t",
      runId: "r",
      parentRunId: undefined,
      ownRunId: runId,
      sessionId: "s",
      isV1: true,
      model: "m",
      state: {},
    }),
} as const;

function chatMessages(size: number): object[] {
  const calls = numbers(size / 4).map((at) => ({
    id: `c${at}`,
    type: "function",
    function: { name: "f", arguments: "{}" },
  }));
  return [
    { role: "user", content: numbers(size / 4).map(() => ({ type: "text", text: "a" })) },
    { role: "assistant", content: "a", tool_calls: calls },
    ...numbers(size / 4).map((at) => ({ role: "tool", tool_call_id: `c${at}`, content: "a" })),
  ];
}

function responseInput(size: number): object[] {
  return numbers(size / 2).flatMap((at) => [
    { type: "function_call", call_id: `c${at}`, name: "f", arguments: "{}" },
    { type: "function_call_output", call_id: `c${at}`, output: "a" },
  ]);
}

export const surfaceCases: readonly GrowthCase[] = [
  ...Object.entries(folds).flatMap(([reader, open]) =>
    Object.entries(logs).map(
      ([input, make]): GrowthCase => ({
        reader,
        input,
        prepare: (size) => {
          const results = make(size).map((payload, at) =>
            create(RunResultSchema, { sequence: BigInt(at + 1), payload }),
          );
          return () => {
            const fold = open();
            fold.open();
            for (const result of results) {
              fold.take(result);
            }
          };
        },
      }),
    ),
  ),
  {
    reader: "readChatMessages",
    input: "many calls and results",
    prepare: (size) => {
      const request = { messages: chatMessages(size) };
      return () => readChatMessages(new Fields(request));
    },
  },
  {
    reader: "readInput",
    input: "many calls and results",
    prepare: (size) => {
      const request = { input: responseInput(size) };
      return () => readInput(new Fields(request), new Map());
    },
  },
  {
    reader: "readInput",
    input: "many calls in a row",
    prepare: (size) => {
      const request = { input: responseInput(size).filter((_, at) => at % 2 === 0) };
      return () => readInput(new Fields(request), new Map());
    },
  },
  {
    reader: "readRequest of a response",
    input: "many fields",
    firstSize: 8_000,
    prepare: (size) => {
      const request = { input: "a", metadata: {}, ...Object.fromEntries(numbers(size / 2).map((at) => [`f${at}`, 1])) };
      return () => readRequest(new Fields(request), new Map());
    },
  },
  {
    reader: "readTools",
    input: "many functions",
    prepare: (size) => {
      const tools = numbers(size / 4).map((at) => ({ type: "function", function: { name: `f${at}`, parameters: {} } }));
      return () => readTools(new Fields({ tools }));
    },
  },
  {
    reader: "readRunInput",
    input: "many messages, tools and answers",
    prepare: (size) => {
      const text = JSON.stringify({
        threadId: "t",
        runId: "r",
        messages: numbers(size / 4).map((at) => ({
          id: `m${at}`,
          role: at % 3 === 0 ? "system" : "user",
          content: "a",
        })),
        tools: numbers(size / 4).map((at) => ({ name: `f${at}`, parameters: { a: 1 } })),
        context: numbers(size / 4).map(() => ({ description: "d", value: "v" })),
        resume: numbers(size / 4).map((at) => ({ interruptId: `i${at}`, status: "cancelled" })),
      });
      return () => readRunInput(text);
    },
  },
  {
    reader: "findNewInput",
    input: "a long thread with many new messages",
    prepare: (size) => {
      const known = numbers(size / 2).map((number) => ({
        number,
        runId,
        message: create(MessageSchema, { id: `m${number}`, role: "user", content: { case: "text", value: "a" } }),
      })) as unknown as SessionMessage[];
      const sent = numbers(size).map((at) => ({
        id: `m${at}`,
        role: "user",
        content: { case: "text" as const, value: "a" },
      }));
      return () => findNewInput(known, sent);
    },
  },
];
