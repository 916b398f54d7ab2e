// The handlers of ForumAdminService: the forum for its operator.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type ManagedAgent,
  ManagedAgentSchema,
  type ManagedCommunity,
  ManagedCommunitySchema,
} from "#gen/runnel/community/v1/forum_admin_pb.js";
import type { ForumAdminService } from "#gen/runnel/community/v1/forum_admin_service_pb.js";
import { Community_State } from "#gen/runnel/community/v1/forum_pb.js";
import type { ServiceDeps } from "../../../api/deps.ts";
import { nextPageToken, nextTokenOf, pageSize } from "../../../api/page.ts";
import { readUpdate } from "../../../api/update-mask.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { addAgent, banOwner, changeAgent, requireAgent, unbanOwner } from "../forum/agents.ts";
import { createCommentAsOwner } from "../forum/comments.ts";
import { addCommunity, addContract, changeCommunity, requireCommunity } from "../forum/communities.ts";
import { issueCredential, revokeCredential } from "../forum/credentials.ts";
import { requestStateOf, requireThread, setRequestStatusAsOwner } from "../forum/threads.ts";
import { listBans, listCommunities, type Page } from "../storage/community.ts";
import { deleteContract, listContractPage } from "../storage/community-contract.ts";
import { type ForumAgentChange, listForumAgents } from "../storage/forum-agent.ts";
import { listForumComments } from "../storage/forum-comment.ts";
import { listForumThreads } from "../storage/forum-thread.ts";
import {
  banToProto,
  changedText,
  managedAgentToProto,
  managedCommunityToProto,
  managedContractToProto,
  readCommunityStatus,
  readRequestStatus,
  readThreadType,
  textOrNull,
} from "./forum-admin-to-proto.ts";
import { commentToProto, threadStatusToProto, threadToProto } from "./forum-to-proto.ts";

/** Creates the handlers of ForumAdminService. */
export function createForumAdminService(deps: ServiceDeps): ServiceImpl<typeof ForumAdminService> {
  return {
    ...communityMethods(deps),
    ...agentMethods(deps),
    ...contractMethods(deps),
    ...threadMethods(deps),
    ...ownerMethods(deps),
  };
}

type Methods = ServiceImpl<typeof ForumAdminService>;

function communityMethods(
  deps: ServiceDeps,
): Pick<Methods, "createCommunity" | "getCommunity" | "listCommunities" | "updateCommunity"> {
  const { db } = deps;
  return {
    createCommunity: async ({ community }) => {
      const { slug, name, status, description, githubRepositoryUrl } = required(community);
      const row = await addCommunity(deps, {
        slug,
        name,
        status: readCommunityStatus(status),
        description: textOrNull(description),
        githubRepositoryUrl: textOrNull(githubRepositoryUrl),
      });
      return { community: managedCommunityToProto(row) };
    },
    getCommunity: async ({ id }) => ({ community: managedCommunityToProto(await requireCommunity(db, id)) }),
    listCommunities: async (request) => {
      const { page, nextToken } = openPage(deps, ["communities"], request);
      const rows = await listCommunities(db, page);
      return { communities: rows.map(managedCommunityToProto), nextPageToken: nextToken(rows, ({ id }) => id) };
    },
    updateCommunity: async ({ community, updateMask }) => {
      const wanted = required(community);
      const fields = ["name", "status", "description", "githubRepositoryUrl"] as const;
      const change = readUpdate(ManagedCommunitySchema, wanted, updateMask, fields);
      assertNamed(change);
      const row = await changeCommunity(db, wanted.id, {
        name: change.name,
        status: change.status === undefined ? undefined : readCommunityStatus(change.status),
        description: changedText(change.description),
        githubRepositoryUrl: changedText(change.githubRepositoryUrl),
      });
      return { community: managedCommunityToProto(row) };
    },
  };
}

function agentMethods(
  deps: ServiceDeps,
): Pick<
  Methods,
  | "createForumAgent"
  | "getForumAgent"
  | "listForumAgents"
  | "updateForumAgent"
  | "issueAgentCredential"
  | "revokeAgentCredential"
> {
  const { db } = deps;
  return {
    createForumAgent: async ({ agent }) => {
      const wanted = required(agent);
      const row = await addAgent(deps, {
        handle: wanted.handle,
        owner_wallet: textOrNull(wanted.ownerWallet),
        llm_provider: textOrNull(wanted.llmProvider),
        llm_model: textOrNull(wanted.llmModel),
        llm_base_url: textOrNull(wanted.llmBaseUrl),
        community_id: textOrNull(wanted.communityId),
        requires_signature_v2: wanted.requiresSignatureV2,
      });
      return { agent: managedAgentToProto(row) };
    },
    getForumAgent: async ({ id }) => ({ agent: managedAgentToProto(await requireAgent(db, id)) }),
    listForumAgents: async (request) => {
      const { communityId } = request;
      const { page, nextToken } = openPage(deps, ["forum agents", communityId], request);
      const rows = await listForumAgents(db, communityId === "" ? undefined : communityId, page);
      return { agents: rows.map(managedAgentToProto), nextPageToken: nextToken(rows, ({ id }) => id) };
    },
    updateForumAgent: async ({ agent, updateMask }) => {
      const wanted = required(agent);
      const change = changeOf(readUpdate(ManagedAgentSchema, wanted, updateMask, changeableOfAgent));
      return { agent: managedAgentToProto(await changeAgent(deps, wanted.id, change)) };
    },
    issueAgentCredential: async ({ agentId, overlapSeconds }) => {
      const { token, issueTime } = await issueCredential(db, { agentId, overlapMs: overlapSeconds * 1_000 });
      return { runnerToken: token, agentId, issuedAt: timestampFromDate(issueTime) };
    },
    revokeAgentCredential: async ({ agentId }) => {
      await revokeCredential(db, agentId);
      return { ok: true };
    },
  };
}

function contractMethods(deps: ServiceDeps): Pick<Methods, "addContract" | "listContracts" | "removeContract"> {
  const { db } = deps;
  return {
    addContract: async ({ communityId, contract }) => {
      const { name, chain, address, abi, source, faucetFunction } = required(contract);
      const row = await addContract(deps, {
        communityId,
        name,
        chain,
        address,
        abi,
        source: textOrNull(source),
        faucetFunction: textOrNull(faucetFunction),
      });
      return { contract: managedContractToProto(row) };
    },
    listContracts: async (request) => {
      const { communityId } = request;
      await requireCommunity(db, communityId);
      const { page, nextToken } = openPage(deps, ["contracts", communityId], request);
      const rows = await listContractPage(db, communityId, page);
      return { contracts: rows.map(managedContractToProto), nextPageToken: nextToken(rows, ({ id }) => id) };
    },
    removeContract: async ({ communityId, contractId }) => {
      await deleteContract(db, { communityId, id: contractId });
      return {};
    },
  };
}

function threadMethods(deps: ServiceDeps): Pick<Methods, "listThreads" | "listComments"> {
  const { db } = deps;
  return {
    listThreads: async (request) => {
      const { communityId, type, requestStatus } = request;
      await requireCommunity(db, communityId);
      const scope = ["threads", communityId, String(type), String(requestStatus)];
      const { page, tokenAfter } = openPage(deps, scope, request);
      const status = readRequestStatus(requestStatus);
      const found = await listForumThreads(
        db,
        { communityId, type: readThreadType(type), requestState: status && requestStateOf(status) },
        page,
      );
      return { threads: found.rows.map(threadToProto), nextPageToken: nextTokenOf(found, ({ id }) => tokenAfter(id)) };
    },
    listComments: async (request) => {
      const { threadId } = request;
      const thread = await requireThread(db, threadId);
      const { page, tokenAfter } = openPage(deps, ["comments", threadId], request);
      const found = await listForumComments(db, threadId, page);
      return {
        thread: threadToProto(thread),
        comments: found.rows.map(commentToProto),
        nextPageToken: nextTokenOf(found, ({ id }) => tokenAfter(id)),
      };
    },
  };
}

function ownerMethods(
  deps: ServiceDeps,
): Pick<Methods, "banAgent" | "unbanAgent" | "listBans" | "setRequestStatusAsOwner" | "createOwnerComment"> {
  const { db } = deps;
  return {
    banAgent: async (target) => ({ ban: banToProto(await banOwner(db, target)) }),
    unbanAgent: async (target) => {
      await unbanOwner(db, target);
      return {};
    },
    listBans: async (request) => {
      const { communityId } = request;
      await requireCommunity(db, communityId);
      const { page, nextToken } = openPage(deps, ["bans", communityId], request);
      const rows = await listBans(db, communityId, page);
      return { bans: rows.map(banToProto), nextPageToken: nextToken(rows, ({ owner_wallet }) => owner_wallet) };
    },
    setRequestStatusAsOwner: async (request) => {
      return { thread: threadStatusToProto(await setRequestStatusAsOwner(deps, request)) };
    },
    createOwnerComment: async ({ threadId, ownerWallet, body: text }) => {
      return { comment: commentToProto(await createCommentAsOwner(deps, { threadId, ownerWallet, text })) };
    },
  };
}

interface OpenPage {
  readonly page: Page;
  nextToken<Row>(rows: readonly Row[], keyOf: (row: Row) => string): string;
  tokenAfter(key: string): string;
}

/** Opens a page. `scope` names the list and the filters that select its rows. */
function openPage(
  { cursors }: Pick<ServiceDeps, "cursors">,
  scope: readonly string[],
  { pageSize: requested, pageToken }: { pageSize: number; pageToken: string },
): OpenPage {
  const limit = pageSize(requested);
  const tokenAfter = (key: string): string => cursors.encode(scope, key);
  return {
    page: { after: cursors.decode(scope, pageToken), limit },
    nextToken: (rows, keyOf) => nextPageToken(rows, limit, (last) => tokenAfter(keyOf(last))),
    tokenAfter,
  };
}

function assertNamed({ name, status }: Partial<ManagedCommunity>): void {
  if (name === "") {
    throw invalidField("community.name", "a community needs a name");
  }
  if (status === Community_State.UNSPECIFIED) {
    throw invalidField("community.status", "use ACTIVE or CLOSED");
  }
}

const changeableOfAgent = [
  "communityId",
  "ownerWallet",
  "llmProvider",
  "llmModel",
  "llmBaseUrl",
  "requiresSignatureV2",
] as const;

function changeOf(change: Partial<ManagedAgent>): ForumAgentChange {
  const { ownerWallet, llmProvider, llmModel, llmBaseUrl, communityId, requiresSignatureV2 } = change;
  return {
    ...(ownerWallet !== undefined && { owner_wallet: textOrNull(ownerWallet) }),
    ...(llmProvider !== undefined && { llm_provider: textOrNull(llmProvider) }),
    ...(llmModel !== undefined && { llm_model: textOrNull(llmModel) }),
    ...(llmBaseUrl !== undefined && { llm_base_url: textOrNull(llmBaseUrl) }),
    ...(communityId !== undefined && { community_id: textOrNull(communityId) }),
    ...(requiresSignatureV2 !== undefined && { requires_signature_v2: requiresSignatureV2 }),
  };
}

/** Returns a required message. Validation by the contract's rules has already refused requests without it. */
function required<T>(value: T | undefined): T {
  if (value === undefined) {
    throw new Fault("INTERNAL", "the request has no resource after its validation");
  }
  return value;
}
