// What providers send and what models are given: streams in pieces of every size, transcripts and contents of many parts.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { StringDecoder } from "node:string_decoder";
import { create } from "@bufbuild/protobuf";
import { createParser } from "eventsource-parser";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { modelMessages } from "../../../src/agent/loop/history.ts";
import { countCalls } from "../../../src/agent/loop/repetition.ts";
import { fitMessages } from "../../../src/agent/loop/window.ts";
import { createAnthropic } from "../../../src/agent/models/anthropic/provider.ts";
import { writeAnswer } from "../../../src/agent/models/demo/answer.ts";
import { planCalls, readExchange } from "../../../src/agent/models/demo/plan.ts";
import { contentBody } from "../../../src/agent/models/gemini/body.ts";
import { createGemini } from "../../../src/agent/models/gemini/provider.ts";
import { splitHalfCharacter } from "../../../src/agent/models/half-character.ts";
import { fitRequest } from "../../../src/agent/models/media/fit.ts";
import { decodeInline } from "../../../src/agent/models/media/inline.ts";
import { joinText } from "../../../src/agent/models/media/placeholder.ts";
import type { ModelContent, ModelMessage } from "../../../src/agent/models/model.ts";
import { createOpenAiCompatible } from "../../../src/agent/models/openai-compatible/provider.ts";
import { ChatReader } from "../../../src/agent/models/openai-compatible/reader.ts";
import { createOpenAiResponses } from "../../../src/agent/models/openai-responses/provider.ts";
import type { ModelProvider } from "../../../src/agent/models/wire/account.ts";
import { StreamBounds } from "../../../src/agent/models/wire/bounds.ts";
import { describeHttpError, describeStreamError, readRetryAfter } from "../../../src/agent/models/wire/failures.ts";
import { joinTexts } from "../../../src/agent/models/wire/join.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { onMessages } from "../../fakes/anthropic-provider.ts";
import { onGemini } from "../../fakes/gemini-provider.ts";
import { onChat } from "../../fakes/provider.ts";
import { onResponses } from "../../fakes/responses-provider.ts";
import type { Script, Wire } from "../../fakes/wire-server.ts";
import { request } from "../../models/request.ts";
import type { GrowthCase } from "../growth.ts";
import { plainTexts } from "../inputs.ts";
import { flat, pairs } from "./pairs.ts";

/** Returns the response that a script of a fake provider writes. */
function written(script: Script): string {
  let text = "";
  const frame = (value: object, event?: string): void => {
    text += `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`;
  };
  const raw = (...pieces: readonly string[]): void => {
    text += pieces.join("");
  };
  void script({ frame, raw, end: () => {} } as unknown as Wire, { body: {} } as never);
  return text;
}

function piecesOf(size: number): string[] {
  return Array.from({ length: size }, (_, at) => (at === 0 ? '{"a":"' : at === size - 1 ? '"}' : "x "));
}

const chatStream = (size: number): string =>
  written(
    onChat((wire) => {
      for (const piece of piecesOf(size)) {
        wire.frame({
          choices: [{ delta: { tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: piece } }] } }],
        });
      }
      wire.done("tool_calls");
    }),
  );

const chatTexts = (size: number): string =>
  written(
    onChat((wire) => {
      for (const piece of piecesOf(size)) {
        wire.text(piece);
      }
      wire.done("stop");
    }),
  );

const anthropicCalls = (size: number): string =>
  written(
    onMessages((wire) => {
      wire.start();
      wire.toolUse("c", "f", ...piecesOf(size));
      wire.done("tool_use");
    }),
  );

const anthropicThoughts = (size: number): string =>
  written(
    onMessages((wire) => {
      wire.start();
      wire.thinking("c2ln", ...piecesOf(size));
      wire.text(...piecesOf(size));
      wire.done("end_turn");
    }),
  );

const geminiTexts = (size: number): string =>
  written(
    onGemini((wire) => {
      for (const piece of piecesOf(size)) {
        wire.text(piece);
      }
      wire.finish("STOP");
    }),
  );

const geminiThoughts = (size: number): string =>
  written(
    onGemini((wire) => {
      for (const piece of piecesOf(size)) {
        wire.thought(piece);
      }
      wire.finish("STOP");
    }),
  );

const geminiCalls = (size: number): string =>
  written(
    onGemini((wire) => {
      wire.parts([{ functionCall: { name: "f", willContinue: true } }]);
      for (const [at, stringValue] of piecesOf(size).entries()) {
        const partialArgs = [{ jsonPath: `$.a[${at}].b`, stringValue }];
        wire.parts([{ functionCall: { partialArgs, willContinue: true } }]);
      }
      wire.parts([{ functionCall: {} }]);
      wire.finish("STOP");
    }),
  );

const responsesTexts = (size: number): string =>
  written(
    onResponses((wire) => {
      wire.text(...piecesOf(size));
      wire.completed();
    }),
  );

const responsesCalls = (size: number): string =>
  written(
    onResponses((wire) => {
      wire.start();
      const item = { type: "function_call", id: "fc", call_id: "c", name: "f" };
      wire.event("response.output_item.added", {
        output_index: 0,
        item: { ...item, arguments: "", status: "in_progress" },
      });
      for (const delta of piecesOf(size)) {
        wire.event("response.function_call_arguments.delta", { item_id: "fc", output_index: 0, delta });
      }
      const whole = { ...item, arguments: piecesOf(size).join(""), status: "completed" };
      wire.event("response.output_item.done", { output_index: 0, item: whole });
      wire.completed();
    }),
  );

const responsesImage = (size: number): string =>
  written(
    onResponses((wire) => {
      wire.start();
      // Each of the sizes is one that the log does not keep whole.
      const item = { type: "image_generation_call", id: "ig", result: "A".repeat(size * 2_500) };
      wire.event("response.output_item.done", { output_index: 0, item });
      wire.completed();
    }),
  );

/** Reads a response of a provider from a real socket. */
async function stream(open: (origin: string) => ModelProvider, model: string, body: string): Promise<void> {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const provider = open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    for await (const part of provider.model(model).stream(request, new AbortController().signal)) {
      if (part.type === "failure") {
        throw new Error(part.message);
      }
    }
  } finally {
    provider.close();
    server.close();
  }
}

const account = { apiKey: "", clock: systemClock };
const providers = {
  "chat completions": (origin: string) =>
    createOpenAiCompatible({ name: "openai", baseUrl: `${origin}/v1`, ...account }),
  anthropic: (origin: string) => createAnthropic({ name: "anthropic", baseUrl: `${origin}/v1`, ...account }),
  gemini: (origin: string) => createGemini({ name: "gemini", baseUrl: `${origin}/v1beta`, ...account }),
  responses: (origin: string) => createOpenAiResponses({ name: "openai", baseUrl: `${origin}/v1`, ...account }),
} as const;

function streamed(
  name: keyof typeof providers,
  model: string,
  input: string,
  bodyOf: (size: number) => string,
): GrowthCase {
  return {
    reader: `a stream of ${name}`,
    input,
    firstSize: 500,
    prepare: (size) => {
      const body = bodyOf(size);
      return () => stream(providers[name], model, body);
    },
  };
}

/** Reads a stream byte by byte, as a slow sender makes it arrive. */
function readByByte(text: string): void {
  const bounds = new StreamBounds("p");
  const reader = new ChatReader({ provider: "p", model: "m" });
  const decoder = new StringDecoder("utf8");
  const parser = createParser({ onEvent: ({ data }) => reader.read(data) });
  for (const byte of Buffer.from(text)) {
    const chunk = Buffer.of(byte);
    if (bounds.check(chunk) !== undefined) {
      return;
    }
    parser.feed(decoder.write(chunk));
  }
  reader.end(false);
}

function transcript(
  ...parts: readonly (readonly [role: string, calls: readonly string[], answered?: string])[]
): Message[] {
  return parts.map(([role, calls, answered]) =>
    create(MessageSchema, {
      role,
      content: { case: "text", value: "text" },
      toolCalls: calls.map((id) => ({ id, name: "f", arguments: "{}" })),
      ...(answered !== undefined && { toolCallId: answered }),
    }),
  );
}

function ids(size: number): string[] {
  return Array.from({ length: size }, (_, at) => `call_${at}`);
}

function textParts(size: number): ModelContent[] {
  return Array.from({ length: size }, (_, at) =>
    at % 2 === 0 ? { type: "text", text: "some text" } : { type: "placeholder", text: "[image]" },
  );
}

const png = Buffer.from("89504e470d0a1a0a", "hex");

export const modelCases: readonly GrowthCase[] = [
  streamed("chat completions", "gpt-4o", "arguments in many pieces", chatStream),
  streamed("chat completions", "gpt-4o", "text in many pieces", chatTexts),
  streamed("anthropic", "claude-sonnet-4-5", "arguments in many pieces", anthropicCalls),
  streamed("anthropic", "claude-sonnet-4-5", "thoughts and text in many pieces", anthropicThoughts),
  streamed("gemini", "gemini-2.5-flash", "text in many pieces", geminiTexts),
  streamed("gemini", "gemini-2.5-flash", "thoughts in many pieces", geminiThoughts),
  streamed("gemini", "gemini-2.5-flash", "arguments in many pieces", geminiCalls),
  streamed("responses", "gpt-4o", "text in many pieces", responsesTexts),
  streamed("responses", "gpt-4o", "arguments in many pieces", responsesCalls),
  streamed("responses", "gpt-4o", "an image in one line", responsesImage),
  ...pairs(
    {
      "one long line": (size) => `data: {"choices":[{"delta":{"content":"${"a".repeat(size)}"}}]}\n\n`,
      "many events": (size) => 'data: {"choices":[]}\n\n'.repeat(size / 20),
      "one event of many lines": (size) => `${"data: 1\r\n".repeat(size / 9)}\r\n`,
      "lines that end in CR": (size) => "data: 1\r".repeat(size / 8),
      comments: (size) => ": keep-alive\n".repeat(size / 12),
      "a line without an end": (size) => `data: ${"a".repeat(size)}`,
      "surrogate pairs": (size) => `data: ${"\u{1f600}".repeat(size / 4)}\n\n`,
    },
    { "an event stream, byte by byte": readByByte },
  ),
  {
    reader: "ChatReader",
    input: "many calls",
    prepare: (size) => {
      const frames = ids(size / 4).map((id, index) =>
        JSON.stringify({
          choices: [{ delta: { tool_calls: [{ index, id, function: { name: "f", arguments: "{}" } }] } }],
        }),
      );
      return () => {
        const reader = new ChatReader({ provider: "p", model: "m" });
        for (const frame of frames) {
          reader.read(frame);
        }
        return reader.end(false);
      };
    },
  },
  ...["message", "delta"].flatMap((place) =>
    [1, 200].map(
      (depth): GrowthCase => ({
        reader: "ChatReader",
        input: `a ${place} of many calls whose arguments are objects, of depth ${depth}`,
        prepare: (size) => {
          const calls = ids(size / 4).map((id, index) => ({ index, id, function: { name: "f", arguments: { a: 1 } } }));
          const nested = `${"[".repeat(depth)}${"]".repeat(depth)}`;
          const frame = `{"choices":[{"${place}":${JSON.stringify({ tool_calls: calls })}}],"x":${nested}}`;
          return () => {
            const reader = new ChatReader({ provider: "p", model: "m" });
            return [reader.read(frame), reader.end(true)];
          };
        },
      }),
    ),
  ),
  {
    reader: "splitHalfCharacter and joinTexts",
    input: "many pieces",
    prepare: (size) => () =>
      joinTexts(Array.from({ length: size }, () => ({ type: "text", text: splitHalfCharacter("a\ud83d")[0] }))),
  },
  {
    reader: "modelMessages",
    input: "a turn of many calls with their results",
    prepare: (size) => {
      const names = ids(size / 2);
      const messages = transcript(["user", []], ["assistant", names], ...names.map((id) => ["tool", [], id] as const));
      return () => modelMessages(messages);
    },
  },
  {
    reader: "modelMessages",
    input: "many turns whose calls have no result",
    prepare: (size) => {
      const messages = transcript(...ids(size / 2).map((id) => ["assistant", [id]] as const));
      return () => modelMessages(messages);
    },
  },
  {
    reader: "fitMessages",
    input: "many messages that do not fit",
    firstSize: 8_000,
    prepare: (size) => {
      const messages: ModelMessage[] = Array.from({ length: size }, () => ({ role: "user", text: "a" }));
      return () => fitMessages(messages, 1);
    },
  },
  {
    reader: "countCalls",
    input: "many calls",
    prepare: (size) => {
      const [message] = transcript(["assistant", ids(size / 2)]);
      return () => countCalls({}, message?.toolCalls ?? []);
    },
  },
  {
    reader: "joinText",
    input: "many parts",
    prepare: (size) => {
      const parts = textParts(size);
      return () => joinText(parts);
    },
  },
  {
    reader: "fitRequest",
    input: "many messages, one with an image",
    firstSize: 4_000,
    prepare: (size) => {
      const image: ModelMessage = {
        role: "user",
        text: "",
        parts: [{ type: "image", mediaType: "image/png", name: undefined, data: png }],
      };
      const messages: ModelMessage[] = [
        image,
        ...Array.from({ length: size }, (): ModelMessage => ({ role: "user", text: "a" })),
      ];
      return () => fitRequest({ ...request, messages }, fitOptions);
    },
  },
  {
    reader: "fitRequest",
    input: "a message of many parts",
    firstSize: 4_000,
    prepare: (size) => {
      const messages: ModelMessage[] = [{ role: "user", text: "", parts: textParts(size) }];
      return () => fitRequest({ ...request, messages }, fitOptions);
    },
  },
  {
    reader: "the body of gemini",
    input: "a turn of many calls with their results",
    prepare: (size) => {
      const messages = ids(size / 2).map(
        (toolCallId): ModelMessage => ({ role: "tool", toolCallId, toolName: "f", text: "a" }),
      );
      return () => contentBody({ provider: "gemini", model: "gemini-2.5-flash" }, { ...request, messages });
    },
  },
  ...pairs(plainTexts, {
    "describeHttpError and readRetryAfter": (text) => [
      describeHttpError(500, text, undefined),
      readRetryAfter({ "retry-after-ms": text, "retry-after": text }, 0),
    ],
    describeStreamError: (text) => describeStreamError({ message: text }),
    decodeInline: (text) => [decodeInline(text), decodeInline(`data:${text};base64,${text}`)],
    "the demo model": (text) => {
      const exchange = readExchange([{ role: "user", text: flat(text) }]);
      return [planCalls(exchange, []), writeAnswer(exchange, undefined)];
    },
  }),
];

const fitOptions = {
  model: { provider: "openai", name: "gpt-4o" },
  takesUrls: false,
  load: async () => "gone",
} as const;
