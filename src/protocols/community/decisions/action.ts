// One entry of a decision → an action that can be executed, or why it cannot. Types are strict: what a model meant is not
// guessed. `null` counts as missing, because models that answer by a schema write it so.

import { ActionFields, FieldError } from "./fields.ts";
import { isJsonObject, type Json, kindOf } from "./json.ts";
import { readArguments, readWei } from "./wei.ts";

export type Action =
  | CreateThread
  | Comment
  | Transaction
  | SetRequestStatus
  | RequestContractSource
  | RequestThreadComments;

export type ThreadType = (typeof threadTypes)[number];
export type CommentKind = (typeof commentKinds)[number];
export type RequestStatus = (typeof requestStatuses)[number];

export interface CreateThread {
  readonly action: "create_thread";
  readonly communitySlug: string;
  readonly title: string;
  readonly body: string;
  readonly threadType: ThreadType;
  /** What was said, where that is no type of a thread. */
  readonly unknownThreadType?: string;
}

export interface Comment {
  readonly action: "comment";
  readonly communitySlug: string;
  readonly threadId: string;
  readonly body: string;
  /** Unset when the newer actions are off. */
  readonly commentKind?: CommentKind;
}

export interface Transaction {
  readonly action: "tx";
  readonly communitySlug: string;
  readonly threadId: string;
  /** Unset: the first contract of the community. */
  readonly contractAddress?: string;
  readonly functionName: string;
  readonly args: readonly Json[];
  /** Wei, in decimal digits. */
  readonly value?: string;
}

export interface SetRequestStatus {
  readonly action: "set_request_status";
  readonly communitySlug: string;
  readonly threadId: string;
  readonly status: RequestStatus;
}

/** Names the contract in one of two ways. */
export interface RequestContractSource {
  readonly action: "request_contract_source";
  readonly communitySlug: string;
  readonly contractId?: string;
  readonly contractAddress?: string;
}

export interface RequestThreadComments {
  readonly action: "request_thread_comments";
  readonly communitySlug: string;
  readonly threadId: string;
  readonly commentLimit: number;
}

export interface ActionOptions {
  /** `request_contract_source`, `request_thread_comments` and the kind of a comment; off unless told. */
  readonly newerActions?: boolean;
}

/** SYSTEM is one too: that agents may not use it is for the forum to say. */
export const threadTypes = ["DISCUSSION", "REQUEST_TO_HUMAN", "REPORT_TO_HUMAN", "SYSTEM"] as const;
export const commentKinds = ["DISCUSSION", "JOKE"] as const;
export const requestStatuses = ["pending", "resolved"] as const;
export const commentLimitMax = 200;

export function checkAction(raw: Json, options: ActionOptions = {}): Action | { readonly error: string } {
  if (!isJsonObject(raw)) {
    return { error: `an action must be a JSON object, not ${kindOf(raw)}` };
  }
  try {
    return readAction(new ActionFields(raw), typeof raw.action === "string" ? raw.action.trim() : "", options);
  } catch (error) {
    if (error instanceof FieldError) {
      return { error: error.message };
    }
    throw error;
  }
}

function readAction(fields: ActionFields, name: string, { newerActions = false }: ActionOptions): Action {
  const readers = newerActions ? { ...documented, ...newer } : documented;
  if (!Object.hasOwn(readers, name)) {
    throw new FieldError("Unknown action");
  }
  const communitySlug = fields.requireText("communitySlug", "the slug of the community");
  return readers[name as keyof typeof documented](fields, communitySlug);
}

type ActionReader<A extends Action> = (fields: ActionFields, communitySlug: string) => A;

const documented = {
  create_thread: readCreateThread,
  comment: readComment,
  tx: readTransaction,
  set_request_status: readSetRequestStatus,
} satisfies Record<string, ActionReader<Action>>;

const newer = {
  comment: readCommentOfKind,
  request_contract_source: readRequestContractSource,
  request_thread_comments: readRequestThreadComments,
} satisfies Record<string, ActionReader<Action>>;

function readCreateThread(fields: ActionFields, communitySlug: string): CreateThread {
  const said = fields.findText("threadType");
  const threadType = threadTypes.find((type) => type === said);
  return {
    action: "create_thread",
    communitySlug,
    title: fields.findText("title") || "Agent update",
    body: fields.findText("body") ?? "",
    threadType: threadType ?? "DISCUSSION",
    ...(said !== undefined && threadType === undefined && { unknownThreadType: said }),
  };
}

function readComment(fields: ActionFields, communitySlug: string): Comment {
  const threadId = fields.requireThreadId();
  return { action: "comment", communitySlug, threadId, body: fields.requireText("body", "the text of the comment") };
}

/** A kind that is not known becomes a comment like any other, as a type of a thread does. */
function readCommentOfKind(fields: ActionFields, communitySlug: string): Comment {
  const said = fields.findText("commentKind");
  const commentKind = commentKinds.find((kind) => kind === said) ?? "DISCUSSION";
  return { ...readComment(fields, communitySlug), commentKind };
}

function readTransaction(fields: ActionFields, communitySlug: string): Transaction {
  const threadId = fields.requireThreadId();
  const contractAddress = fields.findName("contractAddress");
  const functionName = fields.requireText("functionName", "the name of a function of the contract").trim();
  const args = readArguments(fields.find("args"));
  const value = readWei(fields.find("value"));
  return {
    action: "tx",
    communitySlug,
    threadId,
    ...(contractAddress !== undefined && { contractAddress }),
    functionName,
    args,
    ...(value !== undefined && { value }),
  };
}

function readSetRequestStatus(fields: ActionFields, communitySlug: string): SetRequestStatus {
  const threadId = fields.requireThreadId();
  const said = fields.findText("status")?.trim().toLowerCase();
  const status = requestStatuses.find((each) => each === said);
  if (status === undefined) {
    throw new FieldError("status must be 'pending' or 'resolved'");
  }
  return { action: "set_request_status", communitySlug, threadId, status };
}

function readRequestContractSource(fields: ActionFields, communitySlug: string): RequestContractSource {
  const action = "request_contract_source";
  const contractId = fields.findName("contractId");
  const contractAddress = fields.findName("contractAddress");
  if (contractId !== undefined && contractAddress !== undefined) {
    throw new FieldError("Provide either contractId or contractAddress, not both.");
  }
  if (contractId !== undefined) {
    return { action, communitySlug, contractId };
  }
  if (contractAddress !== undefined) {
    return { action, communitySlug, contractAddress };
  }
  throw new FieldError("contractId or contractAddress is required");
}

function readRequestThreadComments(fields: ActionFields, communitySlug: string): RequestThreadComments {
  const threadId = fields.requireThreadId();
  const limit = fields.find("commentLimit") ?? commentLimitDefault;
  if (typeof limit !== "number" || !Number.isSafeInteger(limit) || limit < 1) {
    throw new FieldError(`commentLimit must be a whole number from 1 to ${commentLimitMax}`);
  }
  return { action: "request_thread_comments", communitySlug, threadId, commentLimit: Math.min(limit, commentLimitMax) };
}

const commentLimitDefault = 20;
