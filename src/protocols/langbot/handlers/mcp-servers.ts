// The MCP servers of bindings and agent profiles: what a client may give, and what it reads.

import type { ApprovalPolicy, ResourcePolicy } from "#gen/runnel/runner/v1/binding_pb.js";
import type { Toolbox } from "../../../agent/tools/toolbox.ts";
import { hideHeaders } from "../../../api/hide-secrets.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";

/** The part of a binding or an agent profile that decides about servers. */
interface Terms {
  readonly resourcePolicy?: ResourcePolicy | undefined;
  readonly approvalPolicy?: ApprovalPolicy | undefined;
}

/** Checks the servers. `path` is that of the terms in the request. Throws Fault INVALID_ARGUMENT, which names the field. */
export function assertServers(
  { mcp }: Pick<Toolbox, "mcp">,
  client: string,
  { resourcePolicy, approvalPolicy }: Terms,
  path: string,
): void {
  const servers = resourcePolicy?.mcpServers ?? [];
  const field = `${path}.resource_policy.mcp_servers`;
  servers.forEach(({ approve, repeatable }, index) => {
    if (approve.length > 0 && approvalPolicy?.required !== true) {
      throw invalidField(
        `${field}[${index}].approve`,
        `set ${path}.approval_policy.required: persons decide about actions`,
      );
    }
    if (repeatable.length > 0) {
      throw invalidField(`${field}[${index}].repeatable`, "leave it unset: a runner repeats its calls itself");
    }
  });
  try {
    mcp.check(servers, client);
  } catch (error) {
    throw error instanceof Fault ? invalidField(field, error.message) : error;
  }
}

/** Returns the binding or the agent profile as clients read it: without the values of headers. */
export function hideServers<T extends Terms>(terms: T): T {
  const { resourcePolicy } = terms;
  return resourcePolicy === undefined || resourcePolicy.mcpServers.length === 0
    ? terms
    : { ...terms, resourcePolicy: { ...resourcePolicy, mcpServers: resourcePolicy.mcpServers.map(hideHeaders) } };
}
