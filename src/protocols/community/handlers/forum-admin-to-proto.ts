// Converts rows of the forum to messages of ForumAdminService, and fields of its requests to column values.

import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type CommunityBan,
  CommunityBanSchema,
  type ManagedAgent,
  ManagedAgentSchema,
  type ManagedCommunity,
  ManagedCommunitySchema,
  type ManagedContract,
  ManagedContractSchema,
} from "#gen/runnel/community/v1/forum_admin_pb.js";
import { ListThreadsRequest_RequestStatus } from "#gen/runnel/community/v1/forum_admin_service_pb.js";
import { Community_State, ForumThread_Type } from "#gen/runnel/community/v1/forum_pb.js";
import type { RequestStatus } from "../forum/threads.ts";
import type { BanRow, CommunityRow } from "../storage/community.ts";
import type { ContractHead } from "../storage/community-contract.ts";
import type { ForumAgentRow } from "../storage/forum-agent.ts";
import type { CommunityStatus, ThreadType } from "../storage/schema.ts";
import { agentFields, communityStatuses } from "./forum-to-proto.ts";

/** Converts a community. */
export function managedCommunityToProto(row: CommunityRow): ManagedCommunity {
  return create(ManagedCommunitySchema, {
    id: row.id,
    slug: row.slug,
    name: row.name,
    status: communityStatuses[row.status],
    description: row.description ?? "",
    githubRepositoryUrl: row.github_repository_url ?? "",
    createTime: timestampFromDate(row.create_time),
    updateTime: timestampFromDate(row.update_time),
  });
}

/** Converts an agent. */
export function managedAgentToProto(row: ForumAgentRow): ManagedAgent {
  return create(ManagedAgentSchema, {
    ...agentFields(row),
    communityId: row.community_id ?? "",
    requiresSignatureV2: row.requires_signature_v2,
    ...(row.issue_time !== null && { credentialTime: timestampFromDate(row.issue_time) }),
    ...(row.revoke_time !== null && { credentialRevokeTime: timestampFromDate(row.revoke_time) }),
    createTime: timestampFromDate(row.create_time),
    updateTime: timestampFromDate(row.update_time),
  });
}

/** Converts a contract, with its source when the row has it. */
export function managedContractToProto(row: ContractHead & { readonly source?: string | null }): ManagedContract {
  const { id, name, chain, address, abi } = row;
  return create(ManagedContractSchema, {
    id,
    name,
    chain,
    address,
    abi,
    source: row.source ?? "",
    faucetFunction: row.faucet_function ?? "",
    createTime: timestampFromDate(row.create_time),
  });
}

/** Converts a ban. */
export function banToProto({ owner_wallet: ownerWallet, create_time }: BanRow): CommunityBan {
  return create(CommunityBanSchema, { ownerWallet, createTime: timestampFromDate(create_time) });
}

/** Reads a status. Unset means ACTIVE: agents may write. */
export function readCommunityStatus(status: Community_State): CommunityStatus {
  return status === Community_State.CLOSED ? "CLOSED" : "ACTIVE";
}

const types: Record<ForumThread_Type, ThreadType | undefined> = {
  [ForumThread_Type.UNSPECIFIED]: undefined,
  [ForumThread_Type.SYSTEM]: "SYSTEM",
  [ForumThread_Type.DISCUSSION]: "DISCUSSION",
  [ForumThread_Type.REQUEST_TO_HUMAN]: "REQUEST_TO_HUMAN",
  [ForumThread_Type.REPORT_TO_HUMAN]: "REPORT_TO_HUMAN",
};

/** Reads the type of a filter. Returns undefined when the filter takes any. */
export function readThreadType(type: ForumThread_Type): ThreadType | undefined {
  return types[type];
}

const requestStatuses: Record<ListThreadsRequest_RequestStatus, RequestStatus | undefined> = {
  [ListThreadsRequest_RequestStatus.UNSPECIFIED]: undefined,
  [ListThreadsRequest_RequestStatus.PENDING]: "pending",
  [ListThreadsRequest_RequestStatus.RESOLVED]: "resolved",
  [ListThreadsRequest_RequestStatus.REJECTED]: "rejected",
};

/** Reads the status of a filter. Returns undefined when the filter takes any. */
export function readRequestStatus(status: ListThreadsRequest_RequestStatus): RequestStatus | undefined {
  return requestStatuses[status];
}

/** Reads a text; an empty one becomes null. */
export function textOrNull(text: string): string | null {
  return text === "" ? null : text;
}

/** Reads a changed text. Returns undefined when the request does not change the field. */
export function changedText(text: string | undefined): string | null | undefined {
  return text === undefined ? undefined : textOrNull(text);
}
