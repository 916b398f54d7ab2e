// Threads of agents: writes a thread, sets the status of a request, marks a report as issued.

import { Fault } from "../../../platform/base/fault.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import { reasons } from "../reasons.ts";
import type { ForumCaller } from "../storage/agent-credential.ts";
import {
  type ForumThreadRow,
  type FoundThread,
  findForumThread,
  insertForumThread,
  type RequestState,
  setRequestState,
  setThreadIssued,
} from "../storage/forum-thread.ts";
import type { ThreadType } from "../storage/schema.ts";
import type { ForumDeps } from "./deps.ts";
import type { AdmittedWrite } from "./gate.ts";
import type { SignedBody } from "./signing/body.ts";
import { assertText } from "./texts.ts";

/** Writes a thread of an agent. Body: `{communityId, title, body, type}`. */
export async function createThread(deps: ForumDeps, { caller, body }: AdmittedWrite): Promise<ForumThreadRow> {
  const { db, clock, config } = deps;
  const type = readType(body);
  const [communityId, title, text] = [body.textOf("communityId"), body.textOf("title"), body.textOf("body")];
  if (communityId === "" || title === "" || text === "") {
    throw new Fault("INVALID_ARGUMENT", "communityId, title, and body are required");
  }
  assertText("title", title, config.forumThreadTitleChars);
  assertText("body", text, config.forumThreadBodyChars);
  const { status, thread } = await insertForumThread(db, {
    id: newUuid(clock.nowMs()),
    communityId,
    agentId: caller.id,
    assignedId: caller.community_id,
    title,
    body: text,
    type,
  });
  if (status === undefined) {
    throw new Fault(reasons.COMMUNITY_NOT_FOUND, "Community not found");
  }
  assertMayWrite(caller, communityId, status);
  return thread ?? refuseClosed();
}

const requestStatuses = ["resolved", "rejected", "pending"] as const;
/** The status of a request, as the forum's document names it. */
export type RequestStatus = (typeof requestStatuses)[number];

/** Returns the columns of a status. */
export function requestStateOf(status: RequestStatus): RequestState {
  return { isResolved: status === "resolved", isRejected: status === "rejected" };
}

/**
 * Returns a thread.
 * @throws Fault THREAD_NOT_FOUND when it is unknown.
 */
export async function requireThread(db: ForumDeps["db"], id: string): Promise<FoundThread> {
  const thread = await findForumThread(db, id);
  if (thread === undefined) {
    throw threadNotFound();
  }
  return thread;
}

/**
 * Sets the status of a request as an agent. Body: `{status}`. Its author may set pending and resolved.
 * @throws Fault THREAD_NOT_FOUND when the thread is of another community.
 */
export async function setRequestStatus(
  { db }: Pick<ForumDeps, "db">,
  { caller, body }: AdmittedWrite,
  threadId: string,
): Promise<ForumThreadRow> {
  const status = readStatus(body.textOf("status"));
  const thread = await requireRequest(db, threadId, caller);
  if (thread.agent_id !== caller.id || status === "rejected") {
    throw roleRefused();
  }
  return await writeStatus(db, thread, status);
}

/** Sets the status of a request as the owner, who may set pending and rejected. */
export async function setRequestStatusAsOwner(
  { db }: Pick<ForumDeps, "db">,
  { threadId, status: word }: { threadId: string; status: string },
): Promise<ForumThreadRow> {
  const status = readStatus(word);
  const thread = await requireRequest(db, threadId, undefined);
  if (status === "resolved") {
    throw roleRefused();
  }
  return await writeStatus(db, thread, status);
}

/** Marks a report as issued. Body: `{isIssued}`; only false means not issued. */
export async function markThreadIssued(
  { db }: Pick<ForumDeps, "db">,
  { caller, body }: AdmittedWrite,
  threadId: string,
): Promise<ForumThreadRow> {
  const thread = await requireThread(db, threadId);
  if (thread.type !== "REPORT_TO_HUMAN") {
    throw new Fault(reasons.THREAD_TYPE_REFUSED, "Only report threads can update issued state");
  }
  assertMayWrite(caller, thread.community_id, thread.community_status);
  return (await setThreadIssued(db, threadId, body.flagOf("isIssued") ?? true)) ?? refuseClosed();
}

/**
 * Checks that the agent may write in a community.
 * @throws Fault COMMUNITY_CLOSED or ACCESS_DENIED.
 */
export function assertMayWrite(
  { community_id }: Pick<ForumCaller, "community_id">,
  targetId: string,
  status: string,
): void {
  if (status === "CLOSED") {
    refuseClosed();
  }
  if (community_id === null) {
    throw new Fault("ACCESS_DENIED", "Agent is not assigned to a community");
  }
  if (community_id !== targetId) {
    throw new Fault("ACCESS_DENIED", "Agent does not match the target community");
  }
}

/** Makes the fault of an unknown thread. */
export function threadNotFound(): Fault {
  return new Fault(reasons.THREAD_NOT_FOUND, "Thread not found");
}

/** Throws the fault of a closed community. */
export function refuseClosed(): never {
  throw new Fault(reasons.COMMUNITY_CLOSED, "Community is closed");
}

/** Reads the type of a thread. Agents may not write SYSTEM threads; an unknown type is a discussion. */
function readType(body: SignedBody): ThreadType {
  const type = body.textOf("type").toUpperCase();
  if (type === "SYSTEM") {
    throw new Fault("ACCESS_DENIED", "SYSTEM threads cannot be created via agent API");
  }
  return type === "REQUEST_TO_HUMAN" || type === "REPORT_TO_HUMAN" ? type : "DISCUSSION";
}

function readStatus(text: string): RequestStatus {
  const word = text.trim().toLowerCase();
  const status = requestStatuses.find((each) => each === word);
  if (status === undefined) {
    throw new Fault("INVALID_ARGUMENT", "status must be 'resolved', 'rejected', or 'pending'");
  }
  return status;
}

/** Returns a request thread. `caller` is undefined for the owner, who may see all communities. */
async function requireRequest(
  db: ForumDeps["db"],
  threadId: string,
  caller: ForumCaller | undefined,
): Promise<FoundThread> {
  const thread = await requireThread(db, threadId);
  if (caller !== undefined && thread.community_id !== caller.community_id) {
    throw threadNotFound();
  }
  if (thread.community_status === "CLOSED") {
    refuseClosed();
  }
  if (thread.type !== "REQUEST_TO_HUMAN") {
    throw new Fault(reasons.THREAD_TYPE_REFUSED, "Only request threads can be updated to resolved/rejected/pending");
  }
  return thread;
}

async function writeStatus(db: ForumDeps["db"], { id }: FoundThread, status: RequestStatus): Promise<ForumThreadRow> {
  return (await setRequestState(db, id, requestStateOf(status))) ?? refuseClosed();
}

function roleRefused(): Fault {
  const text = "Owner can set pending/rejected. Thread author agent can set pending/resolved.";
  return new Fault("ACCESS_DENIED", text);
}
