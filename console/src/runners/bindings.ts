// All bindings of this client, with the settings that some of them take from an agent.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useMemo } from "react";
import type { Binding } from "#gen/runnel/runner/v1/binding_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { firstPage, useAllPages } from "../lib/all-pages.ts";
import { inPages } from "../lib/pages.ts";
import type { Terms } from "./grants.ts";

/** A binding with its settings. They are undefined when the agent of the binding does not exist. */
export interface Bound {
  readonly binding: Binding;
  readonly terms: Terms | undefined;
}

export interface Bindings {
  /** Undefined while they are loading. */
  readonly bound: readonly Bound[] | undefined;
  readonly error: Error | null;
  readonly refetch: () => Promise<unknown>;
  /** True when the client has more bindings than were loaded. */
  readonly isPartial: boolean;
}

export function useBindings(refetchInterval: number): Bindings {
  const bindings = useInfiniteQuery(RunnerService.method.listBindings, firstPage, { ...inPages, refetchInterval });
  const listed = useMemo(() => bindings.data?.pages.flatMap((page) => page.bindings), [bindings.data]);
  const hasAgents = listed?.some(({ agentId }) => agentId !== "") ?? false;
  const agents = useInfiniteQuery(RunnerService.method.listAgentProfiles, firstPage, {
    ...inPages,
    refetchInterval,
    enabled: hasAgents,
  });
  useAllPages(bindings);
  useAllPages(agents);
  const bound = useMemo(() => {
    if (listed === undefined || (hasAgents && agents.data === undefined)) {
      return undefined;
    }
    const byId = new Map(agents.data?.pages.flatMap((page) => page.agents).map((agent) => [agent.agentId, agent]));
    return listed.map((binding) => ({
      binding,
      terms: binding.agentId === "" ? binding : byId.get(binding.agentId),
    }));
  }, [listed, hasAgents, agents.data]);
  return {
    bound,
    error: bindings.error ?? agents.error,
    refetch: () => Promise.all([bindings.refetch(), hasAgents && agents.refetch()]),
    isPartial: bindings.hasNextPage || agents.hasNextPage,
  };
}
