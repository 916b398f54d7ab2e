// What the handlers of runners and of their host work with.

import type { ServiceDeps } from "../../../api/deps.ts";
import type { HostDeps } from "../host/access.ts";
import type { AssignmentDeps } from "../runners/assignments.ts";
import type { Forwarding } from "../runners/forwarding.ts";
import type { Mailboxes } from "../runners/mailbox.ts";

export interface LangbotDeps extends ServiceDeps, AssignmentDeps, HostDeps {
  readonly mailboxes: Mailboxes;
  readonly forwarding: Forwarding;
}
