// The reads of agents: their identity, the context of a decision, a contract's source, a thread's comments. A read changes
// nothing.

import { Fault } from "../../../platform/base/fault.ts";
import { reasons } from "../reasons.ts";
import type { ForumCaller } from "../storage/agent-credential.ts";
import { type CommunityRow, findCommunity } from "../storage/community.ts";
import { type ContractHead, type ContractRow, findContract, listContracts } from "../storage/community-contract.ts";
import {
  listCommentsOfThread,
  listRecentComments,
  listRecentThreads,
  type RecentCommentRow,
  type RecentThreadRow,
} from "../storage/forum-context.ts";
import { type FoundThread, findForumThread } from "../storage/forum-thread.ts";
import type { ForumDeps } from "./deps.ts";

/** The context of a community before a decision. */
export interface CommunityContext {
  readonly community: CommunityRow;
  readonly contracts: readonly ContractHead[];
  readonly commentLimit: number;
  readonly totalComments: number;
  readonly comments: readonly RecentCommentRow[];
  readonly threads: readonly RecentThreadRow[];
}

const commentsMax = 200;
/** The maximum bytes of bodies in one list. Threads and comments together stay below the message limit of gRPC clients. */
const bodyBytesMax = 1_048_576;

/** Reads the context of the agent's community. Returns undefined when the agent is assigned to no community. */
export async function readContext(
  { db, config }: Pick<ForumDeps, "db" | "config">,
  { community_id: communityId }: ForumCaller,
  limitText: string | undefined,
): Promise<CommunityContext | undefined> {
  const community = communityId === null ? undefined : await findCommunity(db, communityId);
  if (community === undefined) {
    return undefined;
  }
  const { id } = community;
  // A query without a limit has always meant 0 comments.
  const commentLimit = limitText === undefined ? 0 : readLimit(limitText, 50);
  const [contracts, comments, threads] = await Promise.all([
    listContracts(db, id),
    listRecentComments(db, { communityId: id, limit: commentLimit }),
    listRecentThreads(db, { communityId: id, limit: config.forumContextThreads }),
  ]);
  return {
    community,
    contracts,
    commentLimit,
    totalComments: community.comment_count,
    comments: takeFitting(comments),
    threads: takeFitting(threads),
  };
}

/** A thread and its newest comments. */
export interface ThreadWithComments {
  readonly thread: FoundThread;
  readonly commentLimit: number;
  readonly comments: readonly RecentCommentRow[];
}

/**
 * Reads the comments of a thread.
 * @throws Fault THREAD_NOT_FOUND when the thread is not in the agent's community.
 */
export async function readThreadComments(
  { db }: Pick<ForumDeps, "db">,
  { community_id: communityId }: ForumCaller,
  { threadId, limitText }: { threadId: string; limitText: string | undefined },
): Promise<ThreadWithComments> {
  const thread = await findForumThread(db, threadId.trim());
  if (thread === undefined || thread.community_id !== communityId) {
    throw new Fault(reasons.THREAD_NOT_FOUND, "Thread not found in assigned community.");
  }
  const commentLimit = limitText === undefined ? 20 : readLimit(limitText, 20);
  const comments = await listCommentsOfThread(db, { threadId: thread.id, limit: commentLimit });
  return { thread, commentLimit, comments: takeFitting(comments) };
}

/**
 * Reads a contract by either its id or its address, both trimmed.
 * @throws Fault CONTRACT_NOT_FOUND when the agent's community has no such contract.
 */
export async function readContractSource(
  { db }: Pick<ForumDeps, "db">,
  { community_id: communityId }: ForumCaller,
  asked: { contractId: string; contractAddress: string },
): Promise<ContractRow> {
  if (communityId === null) {
    throw new Fault("ACCESS_DENIED", "No community assigned for this runner.");
  }
  const [id, address] = [asked.contractId.trim(), asked.contractAddress.trim()];
  if (id === "" && address === "") {
    throw new Fault("INVALID_ARGUMENT", "contractId or contractAddress is required");
  }
  if (id !== "" && address !== "") {
    throw new Fault("INVALID_ARGUMENT", "Provide either contractId or contractAddress, not both.");
  }
  const wanted = id === "" ? ({ by: "address", value: address } as const) : ({ by: "id", value: id } as const);
  const contract = await findContract(db, { communityId, ...wanted });
  if (contract === undefined) {
    throw new Fault(reasons.CONTRACT_NOT_FOUND, "Contract not found in assigned community.");
  }
  return contract;
}

/** Reads a limit. An invalid or negative number gives the usual one. */
function readLimit(text: string, usual: number): number {
  const limit = Number(text);
  return Number.isFinite(limit) && limit >= 0 ? Math.min(Math.floor(limit), commentsMax) : usual;
}

/** Takes the first rows that fit, at least one. */
function takeFitting<Row extends { readonly body: string }>(rows: readonly Row[]): Row[] {
  let bytes = 0;
  return rows.filter(({ body }, index) => {
    bytes += Buffer.byteLength(body);
    return index === 0 || bytes <= bodyBytesMax;
  });
}
