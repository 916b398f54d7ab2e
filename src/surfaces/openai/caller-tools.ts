// The tools of callers as models know them. Models know functions alone: a custom tool is a function of one text, and a tool of a
// namespace has the names of both.

import { isObject, parseJson } from "../../platform/base/json/parse-object.ts";
import { toolNameOf } from "../in-process/tool-names.ts";

/** A tool as its caller knows it. */
export interface CallerTool {
  readonly name: string;
  /** Undefined outside a namespace. */
  readonly namespace?: string | undefined;
  /** Takes a text in place of an object. */
  readonly isCustom: boolean;
}

/** The tools that their callers know in another form, by the names under which models know them. */
export type CallerTools = ReadonlyMap<string, CallerTool>;

/** Returns the name under which models know a tool: `crm__find` for `find` of the namespace `crm`. */
export function modelNameOf(name: string, namespace?: string): string {
  if (namespace === undefined || namespace === "") {
    return name;
  }
  const whole = `${namespace}${namespace.endsWith("__") ? "" : "__"}${name}`.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  return toolNameOf(whole);
}

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
  const isCustom = type === "custom";
  const own = String(isObject(custom) ? custom.name : name);
  return isCustom || namespace !== undefined ? [[modelNameOf(own, namespace), { name: own, namespace, isCustom }]] : [];
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
