// The link to the MCP servers in the navigation: only where the settings have some.

import { useQuery } from "@connectrpc/connect-query";
import type { ReactNode } from "react";
import { McpService } from "#gen/runnel/v1/mcp_service_pb.js";

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function KnownServers({ children }: { readonly children: ReactNode }) {
  const { data } = useQuery(McpService.method.listMcpServers, {}, { staleTime: Number.POSITIVE_INFINITY });
  return (data?.servers.length ?? 0) > 0 && children;
}
