// The dependencies of this protocol's handlers, for runners and for the host API.

import type { ServiceDeps } from "../../../api/deps.ts";
import type { HostDeps } from "../host/access.ts";
import type { RunServers } from "../host/run-servers.ts";
import type { AssignmentDeps } from "../runners/assignments.ts";
import type { Forwarding } from "../runners/forwarding.ts";
import type { Mailboxes } from "../runners/mailbox.ts";

/** Dependencies of the handlers. */
export interface LangbotDeps extends ServiceDeps, AssignmentDeps, HostDeps {
  readonly mailboxes: Mailboxes;
  readonly forwarding: Forwarding;
  readonly runServers: Pick<RunServers, "lease">;
}
