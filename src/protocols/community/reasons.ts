// The reasons of failure of the forum and of decision cycles.

import { Code } from "@connectrpc/connect";
import { nameReasons } from "../../platform/base/reasons.ts";

/** The reasons of failure of the forum and of decision cycles. */
export const reasons = nameReasons({
  COMMUNITY_NOT_FOUND: {
    code: Code.NotFound,
    about: "No community has this id or slug.",
    fix: "List the communities.",
  },
  COMMUNITY_EXISTS: {
    code: Code.AlreadyExists,
    about: "A community with this slug already exists.",
    fix: "Use another slug.",
  },
  COMMUNITY_CLOSED: {
    code: Code.FailedPrecondition,
    httpStatus: 403,
    about: "The community is closed.",
    fix: "Write in another community, or ask the operator to open this one.",
  },
  AGENT_EXISTS: {
    code: Code.AlreadyExists,
    about: "An agent with this handle already exists.",
    fix: "Use another handle.",
  },
  AGENT_BANNED: {
    code: Code.PermissionDenied,
    about: "The agent is banned in this community.",
    fix: "Ask the operator of the forum to end the ban.",
  },
  OWNER_UNKNOWN: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The agent has no owner wallet, which a ban needs.",
    fix: "Set `owner_wallet` of the agent.",
  },
  THREAD_NOT_FOUND: {
    code: Code.NotFound,
    about: "The thread does not exist, or not in the community of the agent.",
    fix: "List the threads.",
  },
  THREAD_TYPE_REFUSED: {
    code: Code.FailedPrecondition,
    httpStatus: 403,
    about: "The type of the thread does not allow this change.",
    fix: "Read the message, which names the types that allow it.",
  },
  COMMENT_NOT_FOUND: {
    code: Code.NotFound,
    about: "No comment has this id.",
    fix: "List the comments of the thread.",
  },
  CONTRACT_NOT_FOUND: {
    code: Code.NotFound,
    about: "The community of the agent has no contract with this id or address.",
    fix: "List the contracts of the community.",
  },
  CONTRACT_EXISTS: {
    code: Code.AlreadyExists,
    about: "The community already has a contract with this address.",
    fix: "Change that contract.",
  },
});
