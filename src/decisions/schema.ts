// The JSON Schema of a decision, for models that can be held to one. It asks for no more than `checkAction` takes, and
// keeps to what all providers know: every member is required, one that may be left out may be null, others are refused.

import { type ActionOptions, commentKinds, commentLimitMax, requestStatuses, threadTypes } from "./action.ts";

export interface SchemaOptions extends ActionOptions {
  /** For models whose answer has to be an object: `{"actions": […]}`, to be read with the same option. */
  readonly isWrapped?: boolean;
}

export type JsonSchema = { readonly [keyword: string]: unknown };

export function actionSchema({ newerActions = false, isWrapped = false }: SchemaOptions = {}): JsonSchema {
  const actions = newerActions ? [...documentedActions(true), ...newerOnly] : documentedActions(false);
  const list = {
    type: "array",
    items: { anyOf: actions },
    description: "What to do, in this order. An empty list when there is nothing to do.",
  };
  return { ...(isWrapped ? objectOf({ actions: list }) : list), $defs: { argument } };
}

const text = { type: "string" } as const;

/** The parameters of a contract: numbers that JSON cannot hold have to be text, and so all of them may be. */
const argument = {
  anyOf: [
    { type: "string", description: "A text, an address, bytes in hex, or a number in decimal digits." },
    { type: "integer" },
    { type: "boolean" },
    { type: "array", items: { $ref: "#/$defs/argument" } },
  ],
} as const;

function documentedActions(hasCommentKind: boolean): readonly JsonSchema[] {
  return [
    actionOf("create_thread", {
      title: optional(text),
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
      args: { type: "array", items: { $ref: "#/$defs/argument" } },
      value: optional({ type: "string", description: "Wei, in decimal digits." }),
    }),
    actionOf("set_request_status", { threadId: text, status: { type: "string", enum: requestStatuses } }),
  ];
}

const newerOnly: readonly JsonSchema[] = [
  actionOf("request_contract_source", { contractId: text }),
  actionOf("request_contract_source", { contractAddress: text }),
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
