// Providers whose model searches the web in the middle of its answer, by a tool that the provider runs itself.

import type { Config } from "../../src/platform/config/keys.ts";
import { onMessages } from "./anthropic-provider.ts";
import { onResponses } from "./responses-provider.ts";
import type { Script } from "./wire-server.ts";

/** One such provider, in its wire format. */
export interface WebSearch {
  readonly name: string;
  readonly model: string;
  /** The settings of a service with this provider at an origin. */
  readonly flags: (origin: string) => Partial<Config>;
  /** The tool as an agent names it. */
  readonly tool: { readonly provider: string; readonly tool: string };
  /** A response with a text before the search and a text after it. An empty text is left out. `stop` is Anthropic's reason. */
  readonly search: (before: string, after: string, stop?: "pause_turn") => Script;
  /** A response without a search. */
  readonly say: (text: string) => Script;
  readonly callId: string;
  readonly parameters: object;
  /** The result in the provider's own form. */
  readonly found: unknown;
  /** The call and its result as later requests have to repeat them, byte by byte and in this order. */
  readonly written: readonly string[];
}

const callId = "srvtoolu_01Q";
const query = '{"query":"weather in Rome, 2512292042121000001"}';
const found =
  '[{"type":"web_search_result","url":"https://weather.test/rome","title":"Caf\\u00e9 weather","encrypted_content":' +
  '"EqgfCioIARgBIiQ3YTAwMjY1Mi1mZjM5","page_age":null,"rank":2512292042121000001}]';

const anthropic: WebSearch = {
  name: "Anthropic",
  model: "anthropic:claude-sonnet-4-5",
  flags: (origin) => ({
    anthropicKey: "a-key",
    anthropicBaseUrl: `${origin}/v1`,
    defaultModel: "anthropic:claude-sonnet-4-5",
  }),
  tool: { provider: "anthropic", tool: '{"type":"web_search_20250305","name":"web_search"}' },
  search: (before, after, stop) =>
    onMessages((wire) => {
      wire.start();
      if (before !== "") {
        wire.text(before);
      }
      wire.open({ type: "server_tool_use", id: callId, name: "web_search", input: {} });
      wire.delta({ type: "input_json_delta", partial_json: query.slice(0, 7) });
      wire.delta({ type: "input_json_delta", partial_json: query.slice(7) });
      wire.close();
      const block = `{"type":"web_search_tool_result","tool_use_id":"${callId}","content":${found}}`;
      const index = before === "" ? 1 : 2;
      wire.raw(`data: {"type":"content_block_start","index":${index},"content_block":${block}}\n\n`);
      wire.close();
      if (after !== "") {
        wire.text(after);
      }
      wire.stop(stop ?? "end_turn");
      wire.done();
    }),
  say: (text) =>
    onMessages((wire) => {
      wire.start();
      wire.text(text);
      wire.stop("end_turn");
      wire.done();
    }),
  callId,
  parameters: JSON.parse(query),
  found: JSON.parse(found),
  written: [
    `{"type":"server_tool_use","id":"${callId}","name":"web_search","input":${query}}`,
    `{"type":"web_search_tool_result","tool_use_id":"${callId}","content":${found}}`,
  ],
};

const item = {
  id: "ws_67ccf18f64008190a39b619f4c8455ef087bb177ab789d5c",
  type: "web_search_call",
  status: "completed",
  action: { type: "search", query: "weather in Rome" },
};

const responses: WebSearch = {
  name: "OpenAI Responses",
  model: "openai:gpt-4o",
  flags: (origin) => ({
    openaiKey: "a-key",
    openaiBaseUrl: `${origin}/v1`,
    openaiApi: "responses",
    defaultModel: "openai:gpt-4o",
  }),
  tool: { provider: "openai", tool: '{"type":"web_search"}' },
  search: (before, after) =>
    onResponses((wire) => {
      if (before !== "") {
        wire.text(before);
      }
      wire.item(item);
      if (after !== "") {
        wire.text(after);
      }
      wire.completed();
    }),
  say: (text) =>
    onResponses((wire) => {
      wire.text(text);
      wire.completed();
    }),
  callId: item.id,
  parameters: item.action,
  found: item,
  written: [JSON.stringify(item)],
};

export const webSearches: readonly WebSearch[] = [anthropic, responses];
