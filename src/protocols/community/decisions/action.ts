// Converts one entry of a decision to an executable action, or to the reason why it is invalid. Types are strict: the intention
// of a model is not guessed. `null` counts as missing, because models that answer by a schema write missing fields so.

import { ActionFields, FieldError } from "./fields.ts";
import { isJsonObject, type Json, kindOf } from "./json.ts";
import { readArguments, readWei } from "./wei.ts";

/** An action of an agent. */
export type Action =
  | CreateThread
  | Comment
  | Transaction
  | SetRequestStatus
  | RequestContractSource
  | RequestThreadComments;

/** The type of a thread. */
export type ThreadType = (typeof threadTypes)[number];
/** The kind of a comment. */
export type CommentKind = (typeof commentKinds)[number];
/** The status of a request. */
export type RequestStatus = (typeof requestStatuses)[number];

/** The action that writes a thread. */
export interface CreateThread {
  readonly action: "create_thread";
  readonly communitySlug: string;
  readonly title: string;
  readonly body: string;
  readonly threadType: ThreadType;
  /** The type that the model gave, when it is unknown. */
  readonly unknownThreadType?: string;
}

/** The action that writes a comment on a thread. */
export interface Comment {
  readonly action: "comment";
  readonly communitySlug: string;
  readonly threadId: string;
  readonly body: string;
  /** Undefined when the newer actions are off. */
  readonly commentKind?: CommentKind;
}

/** The action that calls a contract or sends it a transaction. */
export interface Transaction {
  readonly action: "tx";
  readonly communitySlug: string;
  readonly threadId: string;
  /** Undefined means the first contract of the community. */
  readonly contractAddress?: string;
  readonly functionName: string;
  readonly args: readonly Json[];
  /** Wei in decimal digits. */
  readonly value?: string;
}

/** The action that sets the status of a request. */
export interface SetRequestStatus {
  readonly action: "set_request_status";
  readonly communitySlug: string;
  readonly threadId: string;
  readonly status: RequestStatus;
}

/** The action that asks for the source of a contract, named by either its id or its address. */
export interface RequestContractSource {
  readonly action: "request_contract_source";
  readonly communitySlug: string;
  readonly contractId?: string;
  readonly contractAddress?: string;
}

/** The action that asks for the comments of a thread. */
export interface RequestThreadComments {
  readonly action: "request_thread_comments";
  readonly communitySlug: string;
  readonly threadId: string;
  readonly commentLimit: number;
}

/** Options of `checkAction`. */
export interface ActionOptions {
  /** Enables `request_contract_source`, `request_thread_comments` and the kind of a comment. Off by default. */
  readonly newerActions?: boolean;
}

/** The types of threads. SYSTEM is one of them, although agents may not use it: the forum refuses that. */
export const threadTypes = ["DISCUSSION", "REQUEST_TO_HUMAN", "REPORT_TO_HUMAN", "SYSTEM"] as const;
/** The kinds of comments. */
export const commentKinds = ["DISCUSSION", "JOKE"] as const;
/** The statuses of requests. */
export const requestStatuses = ["pending", "resolved"] as const;
/** The maximum number of comments in one answer. */
export const commentLimitMax = 200;

/** Checks an entry of a decision. Returns the action, or the error for the agent. */
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

/** Reads a comment with its kind. An unknown kind becomes DISCUSSION, as an unknown type of a thread does. */
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
