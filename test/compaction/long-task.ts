// A model that works on a long task, and a writer of summaries that keeps what the task calls a fact. Both are played by one provider,
// which refuses a request that no real one would take.

import { callOf, openStage, type Part, type SentMessage } from "../child-runs/team.ts";
import { answer, callTools } from "../fakes/provider.ts";

/** A message with the calls of an assistant. */
interface WireMessage extends SentMessage {
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** Returns the facts in a text, in their order, each once. */
function factsIn(text: string): string[] {
  return [...new Set(text.match(/FACT-\d+/g) ?? [])];
}

/** Text of so many bytes that says nothing. */
export function filler(bytes: number): string {
  return "lorem ipsum ".repeat(Math.ceil(bytes / 12)).slice(0, bytes);
}

/** Writes the facts of its request. */
export const writer: Part = (messages) => answer(`Known: ${factsIn(JSON.stringify(messages)).join(", ")}.`);

/** Says which facts its request has. */
const talker: Part = (messages) => {
  assertValid(messages);
  return answer(`I know ${factsIn(JSON.stringify(messages)).join(", ")}`);
};

/** Reads a file again and again, `turns` times, then says which facts its last request has. */
export const reader =
  (turns: number): Part =>
  (messages) => {
    assertValid(messages);
    const turn = lastTurnIn(messages) + 1;
    return turn > turns
      ? answer(`I know ${factsIn(JSON.stringify(messages)).join(", ")}`)
      : callTools(
          callOf(`a${turn}`, "read_file", { file_path: "long.txt", offset: turn, limit: 150 }),
          callOf(`b${turn}`, "list_dir", { path: ".", turn }),
        );
  };

/** The ids of calls tell the turn: a summary may cover all turns but the last one. */
function lastTurnIn(messages: readonly WireMessage[]): number {
  const id = messages.findLast(({ tool_calls: calls }) => calls !== undefined)?.tool_calls?.[0]?.id ?? "a0";
  return Number(id.slice(1));
}

/** Throws for a conversation that providers refuse: each call needs its result, right after its message, and each result its call. */
function assertValid(messages: readonly WireMessage[]): void {
  let open = new Set<string>();
  for (const [index, { role, tool_calls: calls = [], tool_call_id: id }] of messages.entries()) {
    if (role === "tool" ? !open.delete(id ?? "") : open.size > 0) {
      throw new Error(`message ${index} of the request is in no order that a provider takes`);
    }
    open = role === "tool" ? open : new Set(calls.map((call) => call.id));
  }
  if (open.size > 0 || messages[0]?.role !== "user") {
    throw new Error("the request begins or ends where no provider takes it");
  }
}

/** The settings of an agent whose context is full after 110 KB of messages. */
export const compaction = { prompt: "writer", percent: 30 };

/** Opens a service with both models. */
export function openLongTask(
  parts: Readonly<Record<string, Part>> = {},
  settings: Parameters<typeof openStage>[1] = {},
) {
  return openStage({ talker, writer, ...parts }, settings);
}
