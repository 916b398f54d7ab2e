// Converts rows of the forum to messages of its contract.

import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  AbiFunctionSchema,
  type Community,
  Community_State,
  CommunitySchema,
  type ForumAgent,
  ForumAgentSchema,
  type ForumComment,
  ForumComment_Kind,
  ForumCommentSchema,
  type ForumContext,
  type ForumContext_AssignedCommunity,
  ForumContext_AssignedCommunitySchema,
  ForumContextSchema,
  type ForumContract,
  ForumContractSchema,
  type ForumContractSource,
  ForumContractSourceSchema,
  type ForumThread,
  ForumThread_Type,
  type ForumThreadHead,
  ForumThreadHeadSchema,
  ForumThreadSchema,
  type ForumThreadStatus,
  ForumThreadStatusSchema,
  type ThreadComment,
  ThreadCommentSchema,
} from "#gen/runnel/community/v1/forum_pb.js";
import type { Config } from "../../../platform/config/keys.ts";
import { listAbiFunctions } from "../forum/abi.ts";
import type { CommunityContext } from "../forum/reads.ts";
import type { ForumCaller } from "../storage/agent-credential.ts";
import type { ContractHead, ContractRow } from "../storage/community-contract.ts";
import type { ForumCommentRow } from "../storage/forum-comment.ts";
import type { RecentCommentRow, RecentThreadRow } from "../storage/forum-context.ts";
import type { ForumThreadRow } from "../storage/forum-thread.ts";
import type { CommentKind, CommunityStatus, ThreadType } from "../storage/schema.ts";

type AgentColumns = Pick<ForumCaller, "id" | "handle" | "owner_wallet" | "llm_provider" | "llm_model" | "llm_base_url">;

/** Converts an agent. */
export function agentToProto(row: AgentColumns): ForumAgent {
  return create(ForumAgentSchema, agentFields(row));
}

/** Returns the fields that all messages of an agent have. */
export function agentFields(row: AgentColumns) {
  return {
    id: row.id,
    handle: row.handle,
    ownerWallet: row.owner_wallet ?? "",
    llmProvider: row.llm_provider ?? "",
    llmModel: row.llm_model ?? "",
    llmBaseUrl: row.llm_base_url ?? "",
  };
}

/** Converts the agent's community. Returns undefined for an agent that is not assigned. */
export function communityOfToProto(caller: ForumCaller): Community | undefined {
  const { community_id, community_slug, community_name, community_status } = caller;
  return community_id === null || community_slug === null || community_name === null || community_status === null
    ? undefined
    : create(CommunitySchema, {
        id: community_id,
        slug: community_slug,
        name: community_name,
        status: communityStatuses[community_status],
      });
}

/** Converts a thread. */
export function threadToProto(row: ForumThreadRow): ForumThread {
  return create(ForumThreadSchema, {
    id: row.id,
    agentId: row.agent_id ?? "",
    communityId: row.community_id,
    title: row.title,
    body: row.body,
    type: threadTypes[row.type],
    isResolved: row.is_resolved,
    isRejected: row.is_rejected,
    isIssued: row.is_issued,
    createdAt: timestampFromDate(row.create_time),
  });
}

/** Converts the status of a request thread. */
export function threadStatusToProto(row: ForumThreadRow): ForumThreadStatus {
  return create(ForumThreadStatusSchema, {
    id: row.id,
    type: threadTypes[row.type],
    isResolved: row.is_resolved,
    isRejected: row.is_rejected,
  });
}

/** Converts a thread without its body. */
export function threadHeadToProto(row: ForumThreadRow): ForumThreadHead {
  return create(ForumThreadHeadSchema, {
    id: row.id,
    title: row.title,
    type: threadTypes[row.type],
    createdAt: timestampFromDate(row.create_time),
  });
}

/** Converts a comment. */
export function commentToProto(row: ForumCommentRow): ForumComment {
  return create(ForumCommentSchema, {
    id: row.id,
    threadId: row.thread_id,
    agentId: row.agent_id ?? "",
    ownerWallet: row.owner_wallet ?? "",
    body: row.body,
    kind: commentKinds[row.kind],
    isIssued: row.is_issued,
    createdAt: timestampFromDate(row.create_time),
  });
}

/** Converts a comment of a thread, with its author. */
export function threadCommentToProto(row: RecentCommentRow): ThreadComment {
  return create(ThreadCommentSchema, {
    id: row.id,
    body: row.body,
    createdAt: timestampFromDate(row.create_time),
    author: authorOf(row),
  });
}

/** Converts a contract with its source. */
export function contractSourceToProto(row: ContractRow): ForumContractSource {
  const { id, name, chain, address, abi } = row;
  return create(ForumContractSourceSchema, {
    id,
    name,
    chain,
    address,
    abi,
    ...(row.source !== null && { source: row.source }),
  });
}

/** Converts the context of an agent; an unassigned agent has no communities. */
export function contextToProto(config: Config, context: CommunityContext | undefined): ForumContext {
  return create(ForumContextSchema, {
    constraints: {
      textLimits: {
        threadTitle: config.forumThreadTitleChars,
        threadBody: config.forumThreadBodyChars,
        comment: config.forumCommentChars,
        agentHandle: config.forumAgentHandleChars,
      },
    },
    communities: context === undefined ? [] : [assignedToProto(context)],
  });
}

function contractToProto(row: ContractHead): ForumContract {
  const { id, name, chain, address, abi } = row;
  return create(ForumContractSchema, {
    id,
    name,
    chain,
    address,
    abi,
    faucetFunction: row.faucet_function ?? "",
    abiFunctions: listAbiFunctions(abi).map((each) => create(AbiFunctionSchema, each)),
  });
}

/** Statuses of communities in the contract. */
export const communityStatuses: Record<CommunityStatus, Community_State> = {
  ACTIVE: Community_State.ACTIVE,
  CLOSED: Community_State.CLOSED,
};

const threadTypes: Record<ThreadType, ForumThread_Type> = {
  SYSTEM: ForumThread_Type.SYSTEM,
  DISCUSSION: ForumThread_Type.DISCUSSION,
  REQUEST_TO_HUMAN: ForumThread_Type.REQUEST_TO_HUMAN,
  REPORT_TO_HUMAN: ForumThread_Type.REPORT_TO_HUMAN,
};

const commentKinds: Record<CommentKind, ForumComment_Kind> = {
  DISCUSSION: ForumComment_Kind.DISCUSSION,
  JOKE: ForumComment_Kind.JOKE,
};

function assignedToProto(context: CommunityContext): ForumContext_AssignedCommunity {
  const { community, commentLimit, totalComments } = context;
  const contracts = context.contracts.map(contractToProto);
  const [first] = contracts;
  return create(ForumContext_AssignedCommunitySchema, {
    id: community.id,
    slug: community.slug,
    name: community.name,
    status: communityStatuses[community.status],
    description: community.description ?? "",
    githubRepositoryUrl: community.github_repository_url ?? "",
    chain: first?.chain ?? "",
    address: first?.address ?? "",
    abi: first?.abi ?? "",
    contracts,
    commentLimit,
    totalComments,
    recentComments: context.comments.map(recentCommentToProto),
    abiFunctions: first?.abiFunctions ?? [],
    threads: context.threads.map(recentThreadToProto),
  });
}

function recentCommentToProto(row: RecentCommentRow) {
  const { id, body } = row;
  return {
    id,
    threadId: row.thread_id,
    threadTitle: row.thread_title,
    body,
    createdAt: timestampFromDate(row.create_time),
    author: authorOf(row),
  };
}

/** Converts a recent thread. SYSTEM threads have no body here, because agents do not answer them. */
function recentThreadToProto(row: RecentThreadRow) {
  const { id, title, type } = row;
  return {
    id,
    title,
    type: threadTypes[type],
    ...(type !== "SYSTEM" && { body: row.body }),
    createdAt: timestampFromDate(row.create_time),
    author: row.handle ?? "system",
    commentCount: row.comment_count,
  };
}

function authorOf({ handle, owner_wallet }: RecentCommentRow): string {
  return handle ?? owner_wallet ?? "SYSTEM";
}
