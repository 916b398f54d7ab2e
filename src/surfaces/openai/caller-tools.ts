// The tools of callers as models know them. Models know functions alone: a custom tool is a function of one text, a local tool is a function
// of the name of its type, and a tool of a namespace has the names of both.

import type { ToolCall } from "#gen/runnel/v1/message_pb.js";
import { isObject, parseJson, parseObject } from "../../platform/base/json/parse-object.ts";
import { findLocalTool, type LocalTool } from "./local-tools.ts";
import { modelNameOf } from "./namespaces.ts";

/** A tool as its caller knows it. */
export interface CallerTool {
  readonly name: string;
  /** Undefined outside a namespace. */
  readonly namespace?: string | undefined;
  /** A custom tool takes a text in place of an object. A local one has items of its own. */
  readonly kind: "function" | "custom" | LocalTool;
}

/** The tools that their callers know in another form, by the names under which models know them. */
export type CallerTools = ReadonlyMap<string, CallerTool>;

/** Returns the tools of a request that read otherwise than models know them. */
export function callerToolsOf(tools: readonly unknown[]): CallerTools {
  return new Map(tools.filter(isObject).flatMap((tool) => entriesOf(tool)));
}

type Entry = readonly [modelName: string, tool: CallerTool];

function entriesOf(tool: Readonly<Record<string, unknown>>, namespace?: string): Entry[] {
  const { type, name, custom, tools } = tool;
  if (type === "namespace" && Array.isArray(tools)) {
    return tools.filter(isObject).flatMap((each) => entriesOf(each, String(name)));
  }
  const local = findLocalTool(tool);
  if (local !== undefined) {
    return [[String(type), { name: String(type), kind: local }]];
  }
  const kind = type === "custom" ? "custom" : "function";
  const own = String(isObject(custom) ? custom.name : name);
  return kind === "custom" || namespace !== undefined
    ? [[modelNameOf(own, namespace), { name: own, namespace, kind }]]
    : [];
}

/** Returns the call of a caller's tool as an item shows it, without ids and status. `begun` is what the item has at first. */
export function shownCall({ name: known, arguments: json }: Pick<ToolCall, "name" | "arguments">, tools: CallerTools) {
  const { kind, ...own }: CallerTool = tools.get(known) ?? { name: known, kind: "function" };
  switch (kind) {
    case "function":
      return {
        type: "function_call",
        prefix: "fc",
        fields: { ...own, arguments: json },
        begun: { arguments: "" },
      } as const;
    case "custom": {
      const input = textOfArguments(json);
      return { type: "custom_tool_call", prefix: "ctc", fields: { ...own, input }, begun: { input: "" } } as const;
    }
    default: {
      const { callType: type, prefix } = kind;
      return { type, prefix, fields: kind.shown(parseObject(json) ?? {}), begun: kind.shown({}) } as const;
    }
  }
}

/** Returns the arguments of the function that a custom tool is. */
export function argumentsOfText(input: string): string {
  return JSON.stringify({ input });
}

/** Returns the text that a model gave to a custom tool: also when it wrote the text alone. */
export function textOfArguments(json: string): string {
  const value = parseJson(json);
  return isObject(value) && typeof value.input === "string" ? value.input : json;
}

/** The parameters of the function that a custom tool is. */
export const textParameters = {
  type: "object",
  properties: { input: { type: "string", description: "The whole input of the tool, as plain text." } },
  required: ["input"],
  additionalProperties: false,
};
