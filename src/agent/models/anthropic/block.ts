// The blocks of the Messages format, of which every message consists.

import { RawJson } from "../../../platform/base/json/exact.ts";
import { parseObject } from "../../../platform/base/json/parse-object.ts";
import { argumentsOf } from "../wire/calls.ts";

/** A block of a request. Members that this folder does not read may be RawJson. */
export interface Block {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Returns whether blocks of this type are calls of tools that the service runs itself, such as `server_tool_use`. */
export function isProviderCall(type: string): boolean {
  return type.endsWith("_tool_use");
}

/** Returns whether blocks of this type are results of tools that the service runs itself, such as `mcp_tool_result`. */
export function isProviderResult(type: string): boolean {
  return type.endsWith("_tool_result");
}

/** Returns whether blocks of this type are thoughts. */
export function isThought(type: string): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/**
 * Returns the arguments of a call as the service accepts them. It refuses any other value than an object, so the model's text is put
 * into one.
 */
export function inputOf(argumentsJson: string): RawJson {
  const json = argumentsOf(argumentsJson);
  return new RawJson(parseObject(json) === undefined ? JSON.stringify({ rawInvalidInput: json }) : json);
}
