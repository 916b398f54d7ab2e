// How an editor shows the calls of tools: what each one is, which files it touches, what it changes, what it answered.

import { resolve } from "node:path";
import type { ToolCall, ToolCallContent, ToolCallUpdate, ToolKind } from "@agentclientprotocol/sdk";
import type { ToolCallCompleted } from "#gen/runnel/v1/result_pb.js";
import { isObject, parseJson, parseObject } from "../../platform/base/json/parse-object.ts";

/** A call as an editor shows it before it has run. */
export type CallView = Pick<ToolCall, "title" | "kind" | "rawInput" | "locations" | "content">;

/**
 * Returns the view of a call. `directory` is the absolute path of the tools' work directory; without it a relative path names no
 * file of the editor.
 */
export function viewOfCall(toolName: string, parameters: string, directory: string | undefined): CallView {
  const input = parseObject(parameters) ?? {};
  const named = textOf(input.file_path) ?? textOf(input.path);
  const path = named === undefined || directory === undefined ? named : resolve(directory, named);
  const about = textOf(input.command) ?? textOf(input.pattern) ?? named;
  return {
    title: about === undefined ? toolName : `${toolName} ${about}`,
    kind: kinds.get(toolName) ?? "other",
    rawInput: input,
    ...(path?.startsWith("/") === true && { locations: [{ path }] }),
    ...(path !== undefined && { content: diffOf(toolName, input, path) }),
  };
}

const kinds: ReadonlyMap<string, ToolKind> = new Map([
  ["read_file", "read"],
  ["list_dir", "read"],
  ["glob", "search"],
  ["grep", "search"],
  ["write_file", "edit"],
  ["edit_file", "edit"],
  ["bash", "execute"],
]);

function diffOf(toolName: string, input: Readonly<Record<string, unknown>>, path: string): ToolCallContent[] {
  switch (toolName) {
    case "write_file":
      return [{ type: "diff", path, newText: textOf(input.content) ?? "" }];
    case "edit_file":
      return [{ type: "diff", path, oldText: textOf(input.old_string) ?? "", newText: textOf(input.new_string) ?? "" }];
    default:
      return [];
  }
}

/** Returns the end of a call. A change keeps its diff. */
export function endOfCall({
  toolName,
  result = "{}",
  error,
}: ToolCallCompleted): Pick<ToolCallUpdate, "status" | "content" | "rawOutput"> {
  if (error !== undefined) {
    return { status: "failed", content: [textContent(error)], rawOutput: { error } };
  }
  const rawOutput = parseJson(result);
  const output = isObject(rawOutput) ? rawOutput : {};
  const text = textOf(output.content) ?? result;
  const media = Array.isArray(output.media) ? output.media.filter(isObject).flatMap(imageContent) : [];
  return {
    status: "completed",
    ...(kinds.get(toolName) !== "edit" && { content: [textContent(text), ...media] }),
    rawOutput,
  };
}

/** Returns a text as the content of a call. */
export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

function imageContent({ type, mime_type: mimeType, data }: Readonly<Record<string, unknown>>): ToolCallContent[] {
  return type === "image" && typeof mimeType === "string" && typeof data === "string"
    ? [{ type: "content", content: { type: "image", mimeType, data } }]
    : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
