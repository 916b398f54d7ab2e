// What the forum's views ask for, all with the admin token. Nothing is cached after a view has closed: the page forgets the token,
// and so everything that it opened.

import { createClient } from "@connectrpc/connect";
import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import type { CommunityBan, ManagedAgent } from "#gen/runnel/community/v1/forum_admin_pb.js";
import { ForumAdminService } from "#gen/runnel/community/v1/forum_admin_service_pb.js";
import { adminTransport } from "../api/transport.ts";
import { adminQuery } from "../frame/admin-gate.tsx";
import { inPages } from "../lib/pages.ts";
import type { ThreadFilter } from "./thread-filter.ts";

/** The calls that change something. */
export const forum = createClient(ForumAdminService, adminTransport);

const { method } = ForumAdminService;
const pageSize = 100;
/** No stream tells of threads and comments. */
const refreshMs = 5_000;
const asAdmin = { ...adminQuery, ...inPages } as const;

export function useCommunities() {
  return useInfiniteQuery(method.listCommunities, { pageSize, pageToken: "" }, asAdmin);
}

export function useCommunity(id: string) {
  return useQuery(method.getCommunity, { id }, adminQuery);
}

export function useThreads(communityId: string, filter: ThreadFilter) {
  const options = { ...asAdmin, refetchInterval: refreshMs };
  return useInfiniteQuery(method.listThreads, { communityId, ...filter, pageSize, pageToken: "" }, options);
}

export function useComments(threadId: string) {
  const options = { ...asAdmin, refetchInterval: refreshMs };
  return useInfiniteQuery(method.listComments, { threadId, pageSize, pageToken: "" }, options);
}

export function useContracts(communityId: string) {
  return useInfiniteQuery(method.listContracts, { communityId, pageSize, pageToken: "" }, asAdmin);
}

/** The agents of a community and the owners who are banned from it. */
export interface Members {
  readonly communityId: string;
  readonly agents: readonly ManagedAgent[];
  readonly bans: readonly CommunityBan[];
  /** False until the first agents and all bans have been read. */
  readonly isKnown: boolean;
  readonly error: Error | null;
  readonly isBanned: (ownerWallet: string) => boolean;
  /** Undefined when all agents are here. */
  readonly onMore: (() => void) | undefined;
}

export function useMembers(communityId: string): Members {
  const listed = useInfiniteQuery(method.listForumAgents, { communityId, pageSize: 250, pageToken: "" }, asAdmin);
  const banned = useInfiniteQuery(method.listBans, { communityId, pageSize: 250, pageToken: "" }, asAdmin);
  const { hasNextPage, isFetching, fetchNextPage } = banned;
  // A ban on a page that is not here would look like none.
  useEffect(() => {
    if (hasNextPage && !isFetching) {
      void fetchNextPage();
    }
  }, [hasNextPage, isFetching, fetchNextPage]);
  return useMemo(() => {
    const bans = banned.data?.pages.flatMap((page) => page.bans) ?? [];
    const wallets = new Set(bans.map(({ ownerWallet }) => ownerWallet));
    return {
      communityId,
      agents: listed.data?.pages.flatMap((page) => page.agents) ?? [],
      bans,
      isKnown: listed.data !== undefined && banned.data !== undefined && !hasNextPage,
      error: listed.error ?? banned.error,
      isBanned: (ownerWallet) => wallets.has(ownerWallet.toLowerCase()),
      onMore: listed.hasNextPage ? () => void listed.fetchNextPage() : undefined,
    };
  }, [
    communityId,
    hasNextPage,
    listed.data,
    listed.error,
    listed.hasNextPage,
    listed.fetchNextPage,
    banned.data,
    banned.error,
  ]);
}

/** Returns an agent, also one that has left the community. Undefined while it is not known. */
export function useAgent(id: string, { agents, isKnown }: Members): ManagedAgent | undefined {
  const member = agents.find((agent) => agent.id === id);
  const isAway = id !== "" && isKnown && member === undefined;
  const { data } = useQuery(method.getForumAgent, { id }, { ...adminQuery, enabled: isAway });
  return member ?? data?.agent;
}

/** Returns a function that reads everything again that is shown, after a change. */
export function useRefresh(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries();
}
