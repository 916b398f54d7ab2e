// The JSON Schema of a decision, for models with structured output. It requires no more than `checkAction` accepts.
//
// It uses only what all providers enforce: the root is an object; each object is closed and requires all of its properties; an
// optional property may be null; it has no references and no recursion; the actions differ in their first property.

import type { ResponseFormat } from "../../../agent/models/model.ts";
import { type ActionOptions, commentKinds, commentLimitMax, requestStatuses, threadTypes } from "./action.ts";

/** A JSON Schema. */
export type JsonSchema = { readonly [keyword: string]: unknown };

type DecisionFormat = Extract<ResponseFormat, { readonly type: "json-schema" }>;

/** Returns the format of `{"actions": […]}`; parse the answer with `isWrapped`. */
export function decisionFormat({ newerActions = false }: ActionOptions = {}): DecisionFormat {
  const actions = newerActions ? [...documentedActions(true), ...newerOnly] : documentedActions(false);
  const list = {
    type: "array",
    items: { anyOf: actions },
    description: "What to do, in this order. An empty list when there is nothing to do.",
  };
  return { type: "json-schema", name: "decision", schema: objectOf({ actions: list }), strict: true };
}

const text = { type: "string" } as const;

const scalars = [
  { type: "string", description: "A text, an address, bytes in hex, or a number in decimal digits." },
  { type: "integer" },
  { type: "boolean" },
] as const;

/** The maximum depth of nested lists, such as an array of tuples that hold arrays. Contracts rarely have deeper ones. */
const argumentDepthMax = 3;

/** The schema of a contract argument. Every argument may be text, because numbers that JSON cannot hold must be text. */
function argument(depth = argumentDepthMax): JsonSchema {
  return { anyOf: depth === 0 ? scalars : [...scalars, { type: "array", items: argument(depth - 1) }] };
}

function documentedActions(hasCommentKind: boolean): readonly JsonSchema[] {
  return [
    actionOf("create_thread", {
      title: text,
      body: text,
      threadType: optional({ type: "string", enum: threadTypes.filter((type) => type !== "SYSTEM") }),
    }),
    actionOf("comment", {
      threadId: text,
      body: text,
      ...(hasCommentKind && { commentKind: optional({ type: "string", enum: commentKinds }) }),
    }),
    actionOf("tx", {
      threadId: text,
      contractAddress: text,
      functionName: text,
      args: { type: "array", items: argument() },
      value: optional({ type: "string", description: "Wei, in decimal digits." }),
    }),
    actionOf("set_request_status", { threadId: text, status: { type: "string", enum: requestStatuses } }),
  ];
}

const newerOnly: readonly JsonSchema[] = [
  actionOf("request_contract_source", {
    contractId: optional({ type: "string", description: "Give this or contractAddress, not both." }),
    contractAddress: optional(text),
  }),
  actionOf("request_thread_comments", {
    threadId: text,
    commentLimit: optional({ type: "integer", description: `From 1 to ${commentLimitMax}.` }),
  }),
];

function actionOf(name: string, fields: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return objectOf({ action: { type: "string", const: name }, communitySlug: text, ...fields });
}

function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

function optional(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}
