// Responses with what their providers want back: thoughts, signatures, and the calls and results of tools that they run themselves.

import { onMessages } from "../../fakes/anthropic-provider.ts";
import { type GeminiWire, onGemini } from "../../fakes/gemini-provider.ts";
import { onChat } from "../../fakes/provider.ts";
import { onResponses } from "../../fakes/responses-provider.ts";
import type { Script } from "../../fakes/wire-server.ts";

/** Responses by what they contain. */
export type Turns = Readonly<Record<string, Script>>;

const call = { index: 0, id: "call_1", name: "now", arguments: "{}" };

export const chatTurns: Turns = {
  "a text": chat({ content: "hi" }),
  "a refusal": chat({ refusal: "I cannot." }),
  "parallel calls": chat({ tool_calls: [wireCall("call_1"), wireCall("call_2", 1)] }),
  "a call with a text": chat({ content: "Let me see." }, { tool_calls: [wireCall("call_1")] }),
  "a cut call": onChat((wire) => {
    wire.toolCalls({ ...call, arguments: '{"a' });
    wire.done("length");
  }),
};

/** What compatible servers add. */
export const compatibleTurns: Turns = {
  ...chatTurns,
  "thoughts and a call": chat({ reasoning_content: "hm" }, { tool_calls: [wireCall("call_1")] }),
  "details of thoughts": chat(
    { reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "c2ln", index: 0 }] },
    { tool_calls: [wireCall("call_1")] },
  ),
  "a signed call": chat({
    tool_calls: [{ ...wireCall("call_1"), extra_content: { google: { thought_signature: "c2ln" } } }],
  }),
  "thoughts as parts": chat(
    { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] },
    { content: [{ type: "text", text: "hi" }] },
  ),
  "a call without an id": chat({ tool_calls: [wireCall("")] }),
};

function wireCall(id: string, index = 0): object {
  return { index, id, type: "function", function: { name: "now", arguments: "{}" } };
}

function chat(...deltas: readonly object[]): Script {
  return onChat((wire) => {
    for (const delta of deltas) {
      wire.delta(delta);
    }
    wire.finish(deltas.some((delta) => "tool_calls" in delta) ? "tool_calls" : "stop");
    wire.done();
  });
}

const reasoning = {
  id: "rs_1",
  type: "reasoning",
  summary: [{ type: "summary_text", text: "hm" }],
  encrypted_content: "gAAAAB",
};
const functionCall = {
  id: "fc_1",
  type: "function_call",
  status: "completed",
  call_id: "call_1",
  name: "now",
  arguments: "{}",
};
const annotated = said({
  type: "output_text",
  text: "See a.",
  logprobs: [],
  annotations: [
    { type: "url_citation", start_index: 0, end_index: 3, url: "https://a.example", title: "A" },
    { type: "file_citation", file_id: "file_1", filename: "a.txt", index: 3 },
    {
      type: "container_file_citation",
      container_id: "cntr_1",
      file_id: "cfile_1",
      filename: "a",
      start_index: 0,
      end_index: 3,
    },
    { type: "file_path", file_id: "file_1", index: 3 },
  ],
});

export const responsesTurns: Turns = {
  "a text": items(said({ type: "output_text", text: "hi", annotations: [], logprobs: [] })),
  "a text of a phase": items({ ...said({ type: "output_text", text: "hi", annotations: [] }), phase: "commentary" }),
  "a refusal": items(said({ type: "refusal", refusal: "I cannot." })),
  "thoughts and a text": items(reasoning, said({ type: "output_text", text: "hi", annotations: [] })),
  "thoughts and parallel calls": items(reasoning, functionCall, { ...functionCall, id: "fc_2", call_id: "call_2" }),
  "thoughts with all their text": items(
    { ...reasoning, summary: [], content: [{ type: "reasoning_text", text: "hm" }], status: "completed" },
    functionCall,
  ),
  annotations: items(annotated),
  "a search of the web": items(
    {
      id: "ws_1",
      type: "web_search_call",
      status: "completed",
      action: { type: "search", query: "a", queries: ["a"], sources: [{ type: "url", url: "https://a.example" }] },
    },
    {
      id: "ws_2",
      type: "web_search_call",
      status: "completed",
      action: { type: "open_page", url: "https://a.example" },
    },
    {
      id: "ws_3",
      type: "web_search_call",
      status: "completed",
      action: { type: "find_in_page", url: "https://a.example", pattern: "a" },
    },
    annotated,
  ),
  "a search of files": items(
    {
      id: "fs_1",
      type: "file_search_call",
      status: "completed",
      queries: ["a"],
      results: [{ file_id: "file_1", filename: "a", score: 0.5, text: "a", attributes: {} }],
    },
    annotated,
  ),
  "a server of MCP": items(
    {
      id: "mcpl_1",
      type: "mcp_list_tools",
      server_label: "a",
      tools: [{ name: "b", description: "", input_schema: {}, annotations: null }],
    },
    {
      id: "mcp_1",
      type: "mcp_call",
      server_label: "a",
      name: "b",
      arguments: "{}",
      output: "c",
      error: null,
      approval_request_id: null,
      status: "completed",
    },
    annotated,
  ),
  "programs and images": items(
    {
      id: "ci_1",
      type: "code_interpreter_call",
      status: "completed",
      code: "1",
      container_id: "cntr_1",
      outputs: [{ type: "logs", logs: "1" }],
    },
    { id: "ig_1", type: "image_generation_call", status: "completed", result: "aGk=" },
    annotated,
  ),
  "a shell": items(
    {
      id: "sh_1",
      type: "shell_call",
      call_id: "call_9",
      status: "completed",
      action: { commands: ["ls"], timeout_ms: null, max_output_length: null },
      environment: { type: "container_reference", container_id: "cntr_1" },
    },
    {
      id: "sho_1",
      type: "shell_call_output",
      call_id: "call_9",
      status: "completed",
      max_output_length: null,
      output: [{ stdout: "a", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
    },
    annotated,
  ),
  "a search of tools": items(
    {
      id: "tsc_1",
      type: "tool_search_call",
      call_id: null,
      execution: "server",
      status: "completed",
      arguments: { paths: ["a"] },
    },
    {
      id: "tso_1",
      type: "tool_search_output",
      call_id: null,
      execution: "server",
      status: "completed",
      tools: [{ type: "function", name: "now", description: "", strict: false, parameters: {} }],
    },
    { ...functionCall, namespace: "a" },
  ),
  "a compaction": items({ id: "cmp_1", type: "compaction", encrypted_content: "gAAA" }, annotated),
  "a cut call": onResponses((wire) => {
    wire.reasoning({ id: "rs_1", summary: [], encrypted: "gAAA" });
    wire.call({ id: "call_1", name: "now", arguments: '{"a' });
    wire.incomplete("max_output_tokens");
  }),
};

function said(...content: readonly object[]): object {
  return { id: "msg_1", type: "message", role: "assistant", status: "completed", content };
}

function items(...output: readonly object[]): Script {
  return onResponses((wire) => {
    for (const [place, item] of output.entries()) {
      wire.event("response.output_item.done", { output_index: place, item });
    }
    wire.event("response.completed", { response: { id: "resp_1", status: "completed", output, usage: null } });
  });
}

const direct = { type: "direct" };
const webSearch = [
  { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "a" }, caller: direct },
  {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    caller: direct,
    content: [
      { type: "web_search_result", title: "A", url: "https://a.example", encrypted_content: "RW5j", page_age: null },
    ],
  },
];
const citations = [
  {
    type: "web_search_result_location",
    cited_text: "a",
    encrypted_index: "RW5j",
    title: "A",
    url: "https://a.example",
  },
  {
    type: "char_location",
    cited_text: "a",
    document_index: 0,
    document_title: "A",
    start_char_index: 0,
    end_char_index: 1,
    file_id: null,
  },
  {
    type: "page_location",
    cited_text: "a",
    document_index: 0,
    document_title: null,
    start_page_number: 1,
    end_page_number: 2,
    file_id: null,
  },
  {
    type: "content_block_location",
    cited_text: "a",
    document_index: 0,
    document_title: null,
    start_block_index: 0,
    end_block_index: 1,
    file_id: null,
  },
  {
    type: "search_result_location",
    cited_text: "a",
    search_result_index: 0,
    source: "a",
    start_block_index: 0,
    end_block_index: 1,
    title: null,
  },
];
const thinking = { type: "thinking", thinking: "hm", signature: "c2ln" };
const toolUse = { type: "tool_use", id: "toolu_1", name: "now", input: { a: 1 }, caller: direct };
const text = { type: "text", text: "hi" };

export const messagesTurns: Turns = {
  "a text": blocks(text),
  "thoughts and parallel calls": blocks(thinking, text, toolUse, { ...toolUse, id: "toolu_2" }),
  "hidden thoughts": blocks({ type: "redacted_thinking", data: "ZGF0YQ==" }, text),
  "thoughts without a signature": blocks({ type: "thinking", thinking: "hm", signature: "" }, text),
  "a search of the web": blocks(thinking, ...webSearch, { ...text, citations }),
  "a search that failed": blocks(
    webSearch[0] ?? {},
    {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      caller: direct,
      content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" },
    },
    text,
  ),
  "a page of the web": blocks(
    {
      type: "server_tool_use",
      id: "srvtoolu_1",
      name: "web_fetch",
      input: { url: "https://a.example" },
      caller: direct,
    },
    {
      type: "web_fetch_tool_result",
      tool_use_id: "srvtoolu_1",
      caller: direct,
      content: {
        type: "web_fetch_result",
        url: "https://a.example",
        retrieved_at: "2026-01-01T00:00:00Z",
        content: {
          type: "document",
          source: { type: "text", media_type: "text/plain", data: "a" },
          title: "A",
          citations: null,
        },
      },
    },
    text,
  ),
  programs: blocks(
    {
      type: "server_tool_use",
      id: "srvtoolu_1",
      name: "bash_code_execution",
      input: { command: "ls" },
      caller: direct,
    },
    {
      type: "bash_code_execution_tool_result",
      tool_use_id: "srvtoolu_1",
      content: {
        type: "bash_code_execution_result",
        stdout: "a",
        stderr: "",
        return_code: 0,
        content: [{ type: "bash_code_execution_output", file_id: "file_1" }],
      },
    },
    {
      type: "server_tool_use",
      id: "srvtoolu_2",
      name: "text_editor_code_execution",
      input: { command: "view", path: "a" },
      caller: direct,
    },
    {
      type: "text_editor_code_execution_tool_result",
      tool_use_id: "srvtoolu_2",
      content: {
        type: "text_editor_code_execution_view_result",
        file_type: "text",
        content: "a",
        num_lines: 1,
        start_line: 1,
        total_lines: 1,
      },
    },
    { type: "server_tool_use", id: "srvtoolu_3", name: "code_execution", input: { code: "1" }, caller: direct },
    {
      type: "code_execution_tool_result",
      tool_use_id: "srvtoolu_3",
      content: { type: "code_execution_result", stdout: "1", stderr: "", return_code: 0, content: [] },
    },
    text,
  ),
  "a call of a program": blocks(
    {
      type: "server_tool_use",
      id: "srvtoolu_1",
      name: "code_execution",
      input: { code: "await now()" },
      caller: direct,
    },
    { ...toolUse, caller: { type: "code_execution_20260120", tool_id: "srvtoolu_1" } },
  ),
  "a search of tools": blocks(
    {
      type: "server_tool_use",
      id: "srvtoolu_1",
      name: "tool_search_tool_regex",
      input: { query: "now" },
      caller: direct,
    },
    {
      type: "tool_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: {
        type: "tool_search_tool_search_result",
        tool_references: [{ type: "tool_reference", tool_name: "now" }],
      },
    },
    toolUse,
  ),
  "a pause": ended("pause_turn", webSearch[0] ?? {}),
  "a cut call": onMessages((wire) => {
    wire.start();
    wire.thinking("c2ln", "hm");
    wire.toolUse("toolu_1", "now", '{"a');
    wire.done("max_tokens");
  }),
};

/** What only the beta types have. */
export const messagesBetaTurns: Turns = {
  "a server of MCP": blocks(
    { type: "mcp_tool_use", id: "mcptoolu_1", name: "b", server_name: "a", input: {} },
    { type: "mcp_tool_result", tool_use_id: "mcptoolu_1", is_error: false, content: [{ type: "text", text: "c" }] },
    text,
  ),
  "a compaction": blocks({ type: "compaction", content: "So far: a." }, text),
};

function blocks(...content: readonly object[]): Script {
  return ended(
    content.some((block) => "type" in block && block.type === "tool_use") ? "tool_use" : "end_turn",
    ...content,
  );
}

function ended(reason: string, ...content: readonly object[]): Script {
  return onMessages((wire) => {
    wire.start();
    for (const block of content) {
      wire.open(block);
      wire.close();
    }
    const container = reason === "pause_turn" ? { id: "container_1", expires_at: "2026-01-01T00:00:00Z" } : null;
    wire.frame(
      {
        type: "message_delta",
        delta: { stop_reason: reason, stop_sequence: null, container },
        usage: { output_tokens: 3 },
      },
      "message_delta",
    );
    wire.done();
  });
}

const signed = { thoughtSignature: "c2lnbmF0dXJl" };
const code = { language: "PYTHON", code: "print(1)" };

export const geminiTurns: Turns = {
  "a text": gemini((wire) => wire.text("hi")),
  "thoughts and parallel calls": gemini((wire) => {
    wire.thought("hm");
    wire.parts([
      { functionCall: { name: "now", args: { a: 1 } }, ...signed },
      { functionCall: { name: "now", args: {} } },
    ]);
  }),
  "calls with ids": gemini((wire) => wire.parts([{ functionCall: { id: "a1", name: "now", args: {} }, ...signed }])),
  "a call without arguments": gemini((wire) => wire.parts([{ functionCall: { name: "now" }, ...signed }])),
  "signed texts": gemini((wire) => {
    wire.parts([{ text: "hm", thought: true, ...signed }]);
    wire.parts([{ text: "hi", ...signed }]);
    wire.parts([{ text: "", ...signed }]);
  }),
  "a call in pieces": gemini((wire) => {
    wire.parts([{ functionCall: { name: "now", willContinue: true }, ...signed }]);
    wire.parts([{ functionCall: { partialArgs: [{ jsonPath: "$.a[0].b", numberValue: 1 }], willContinue: true } }]);
    wire.parts([{ functionCall: {} }]);
  }),
  programs: gemini((wire) => {
    wire.parts([{ executableCode: { ...code, id: "x1" }, ...signed }, { executableCode: code }]);
    wire.parts([{ codeExecutionResult: { outcome: "OUTCOME_OK", output: "1", id: "x1" } }]);
    wire.parts([{ codeExecutionResult: { outcome: "OUTCOME_FAILED", output: "" } }, { text: "hi" }]);
  }),
  searches: gemini((wire) => {
    wire.parts([{ toolCall: { toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["a"] }, id: "s1" }, ...signed }]);
    wire.parts([{ toolResponse: { toolType: "GOOGLE_SEARCH_WEB", response: { n: 1 }, id: "s1" }, ...signed }]);
    wire.text("hi");
  }),
  "an image": gemini((wire) =>
    wire.parts([{ inlineData: { mimeType: "image/png", data: "aGk=" }, ...signed }, { text: "hi" }]),
  ),
  "a cut call": onGemini((wire) => {
    wire.parts([{ functionCall: { name: "now", args: { a: "b" } }, ...signed }], { finishReason: "MAX_TOKENS" });
  }),
};

function gemini(write: (wire: GeminiWire) => void): Script {
  return onGemini((wire) => {
    write(wire);
    wire.finish("STOP");
  });
}
