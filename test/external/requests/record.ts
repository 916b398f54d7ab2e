// Lets the providers send their requests to a server that notes them.

import type { ModelMessage, ModelPart, ModelRequest } from "../../../src/agent/models/model.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { type RecordedRequest, type Script, startWireServer } from "../../fakes/wire-server.ts";
import { allSettings, caseOf, cases, hello, type RequestCase, settingCases, toolMediaCase, tools } from "./cases.ts";
import type { Format } from "./formats.ts";

/** A request as it was sent. */
export interface SentRequest {
  /** The model and the case. */
  readonly name: string;
  readonly model: string;
  readonly types: readonly string[];
  readonly sent: RecordedRequest;
}

/** Returns the requests of all cases for all models of a format. */
export async function recordAll(format: Format): Promise<readonly SentRequest[]> {
  await using server = await startWireServer();
  const provider = format.open({ origin: server.origin, apiKey: "key", clock: systemClock });
  const recorded: SentRequest[] = [];
  const send = async (
    model: string,
    { name, request }: RequestCase,
    script: Script,
    types: readonly string[],
  ): Promise<readonly ModelPart[]> => {
    server.respond(script);
    const parts = await Array.fromAsync(provider.model(model).stream(request, new AbortController().signal));
    const sent = server.requests.at(-1);
    if (parts.at(-1)?.type !== "finish" || sent === undefined) {
      throw new Error(`${format.name}: ${name}: ${JSON.stringify(parts.at(-1))}`);
    }
    recorded.push({ name: `${model}: ${name}`, model, types, sent });
    return parts;
  };
  const replay = async (model: string, turns: Format["turns"], types: readonly string[]): Promise<void> => {
    for (const [name, script] of Object.entries(turns)) {
      const parts = await send(model, caseOf(`before ${name}`, { tools }), script, types);
      await send(model, caseOf(`after ${name}`, { tools, messages: answerTo(parts) }), format.answer, types);
    }
  };
  for (const model of format.models) {
    for (const each of casesOf(format, provider.model(model))) {
      await send(model, each, format.answer, format.types);
    }
    await replay(model, format.turns, format.types);
    await replay(model, format.betaTurns ?? {}, format.betaTypes ?? format.types);
  }
  provider.close();
  return recorded;
}

type Model = ReturnType<ReturnType<Format["open"]>["model"]>;

function casesOf({ own }: Format, { settings = new Set(), takesMediaOfTools }: Model): readonly RequestCase[] {
  return [
    ...cases,
    ...settingCases.filter(({ setting }) => settings.has(setting)),
    allSettings(settings),
    ...(takesMediaOfTools === true ? [toolMediaCase] : []),
    ...own,
  ];
}

/** Returns the conversation after a response: the results of its calls, and what the user says then. */
export function answerTo(parts: readonly ModelPart[]): ModelRequest["messages"] {
  const finish = parts.at(-1);
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const calls = parts.flatMap((part) => (part.type === "tool-call" ? [part.call] : []));
  // As the loop does.
  const toolCalls = calls.map((call, place) => ({ ...call, id: call.id || `call_of_ours_${place}` }));
  const state = finish?.type === "finish" ? finish.state : undefined;
  const isOpen = finish?.type === "finish" && finish.reason === "paused";
  const results = toolCalls.map(
    ({ id, name }): ModelMessage => ({ role: "tool", toolCallId: id, toolName: name, text: "ok" }),
  );
  const next = toolCalls.length === 0 && !isOpen ? [hello] : [];
  return [hello, { role: "assistant", text, toolCalls, state }, ...results, ...next];
}
