// Converts the messages of a request to those of the contract.

import { create } from "@bufbuild/protobuf";
import { type Message, MessageSchema, type ToolCall, ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import { serverToolNameOf } from "../../platform/base/mcp-names.ts";
import { withoutEmptyAnswer } from "../in-process/empty-answer.ts";
import { toolNameOf } from "../in-process/tool-names.ts";
import { type Content, contentOf, readBlocks, readTexts } from "./content.ts";
import { ApiError, invalid } from "./errors.ts";
import { Fields } from "./fields.ts";
import { isServerCallId } from "./ids.ts";
import { type Block, nativeName, openState, writeNative } from "./state.ts";
import { withoutCacheMark } from "./tools.ts";

/** The messages of a request. Those of the system come first: models read them before the conversation. */
export function readConversation(request: Fields): readonly Message[] {
  const items = request.findObjects("messages");
  if (items === undefined || items.length === 0) {
    throw invalid("messages", "give at least one message");
  }
  const model = nativeName(request.requireText("model"));
  const system: Message[] = readTexts(request, "system").flatMap(withoutBilling).map(systemMessage);
  const messages: Message[] = [];
  for (const item of items) {
    const role = item.requireText("role");
    switch (role) {
      case "system":
        system.push(...readTexts(item, "content").map(systemMessage));
        break;
      case "user":
        messages.push(...readUser(item));
        break;
      case "assistant":
        messages.push(...readAnswer(item, model));
        break;
      default:
        throw invalid(item.at("role"), "must be user, assistant or system");
    }
  }
  return [...system, ...withoutEmptyAnswer(messages)];
}

/** Claude Code begins its system prompt with a line for Anthropic's bills. It changes, and providers cache equal beginnings. */
function withoutBilling(text: string): string[] {
  const rest = text.replace(/^x-anthropic-billing-header:.*\n*/, "");
  return rest === "" ? [] : [rest];
}

function systemMessage(text: string): Message {
  return messageOf("system", { case: "text", value: text });
}

function messageOf(role: string, content: Content): Message {
  return create(MessageSchema, { role, content });
}

function requireBlocks(item: Fields): readonly Fields[] {
  const blocks = readBlocks(item, "content");
  if (blocks === undefined) {
    throw invalid(item.at("content"), "is missing");
  }
  return blocks;
}

/** The results of tools answer the calls before them, so they come before what the user says. */
function readUser(item: Fields): readonly Message[] {
  const { results = [], others = [] } = Object.groupBy(requireBlocks(item), (block) =>
    block.requireText("type") === "tool_result" ? "results" : "others",
  );
  const said = others.length === 0 && results.length > 0 ? [] : [messageOf("user", contentOf(others))];
  return [...results.map(readResult), ...said];
}

function readResult(block: Fields): Message {
  return create(MessageSchema, {
    role: "tool",
    toolCallId: block.requireText("tool_use_id"),
    content: contentOf(readBlocks(block, "content") ?? []),
    ...(block.findFlag("is_error") === true && { isError: true }),
  });
}

/** Reads an answer. Results of MCP servers that this service has called stand between the responses of the model. */
function readAnswer(item: Fields, model: string): readonly Message[] {
  const messages: Message[] = [];
  let blocks: Fields[] = [];
  let results: Message[] = [];
  const end = (): void => {
    messages.push(...(blocks.length > 0 ? [readAssistant(blocks, model)] : []), ...results);
    [blocks, results] = [[], []];
  };
  for (const block of requireBlocks(item)) {
    if (block.requireText("type") === "mcp_tool_result" && isServerCallId(block.requireText("tool_use_id"))) {
      results.push(readResult(block));
      continue;
    }
    if (results.length > 0) {
      end();
    }
    blocks.push(block);
  }
  end();
  return messages;
}

/** Returns the block of a call as models know it: a call of an MCP server of this service has the names of both. */
function callBlockOf(block: Fields): Fields {
  if (block.requireText("type") !== "mcp_tool_use" || !isServerCallId(block.requireText("id"))) {
    return block;
  }
  const { server_name: _, ...call } = block.value as Block;
  const name = serverToolNameOf(`${block.requireText("server_name")}_`, block.requireText("name"));
  return new Fields({ ...call, type: "tool_use", name }, block.path);
}

/** Reads a response of a model. What a model wants back with it is in blocks that no other model reads. */
function readAssistant(blocks: readonly Fields[], model: string): Message {
  const texts: string[] = [];
  const calls: ToolCall[] = [];
  const native: Block[] = [];
  let state: string | undefined;
  let isPlain = true;
  for (const block of blocks.map(callBlockOf)) {
    const type = block.requireText("type");
    switch (type) {
      case "text":
        texts.push(block.requireText("text"));
        isPlain &&= (block.findItems("citations") ?? []).length === 0;
        break;
      case "tool_use":
        calls.push(readCall(block));
        break;
      case "thinking":
      case "redacted_thinking": {
        const sealed = block.findText(type === "thinking" ? "signature" : "data") ?? "";
        state = openState(sealed) ?? state;
        if (sealed === "" || openState(sealed) !== undefined) {
          continue;
        }
        isPlain = false;
        break;
      }
      default:
        assertAnswerBlock(block, type);
        isPlain = false;
    }
    const named = type === "tool_use" ? { name: toolNameOf(block.requireText("name")) } : {};
    native.push({ ...withoutCacheMark(block.value), type, ...named });
  }
  const own = isPlain ? undefined : writeNative(model, native);
  const fields = state ?? own;
  return create(MessageSchema, {
    role: "assistant",
    ...(texts.length > 0 && { content: { case: "text", value: texts.join("") } }),
    toolCalls: calls,
    ...(fields !== undefined && { providerSpecificFields: fields }),
  });
}

function readCall(block: Fields): ToolCall {
  const input = block.requireObject("input");
  return create(ToolCallSchema, {
    id: block.requireText("id"),
    name: toolNameOf(block.requireText("name")),
    arguments: JSON.stringify(input.value),
  });
}

/** Answers have blocks of tools that Anthropic runs, of which there are more each year. */
const answerBlocks = /_tool_use$|_tool_result$|^(?:container_upload|compaction|fallback|tool_reference)$/;

function assertAnswerBlock(block: Fields, type: string): void {
  if (!answerBlocks.test(type)) {
    throw new ApiError(400, `${block.at("type")}: blocks of type ${type} are not supported in an answer`);
  }
}
