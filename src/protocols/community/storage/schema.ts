// The Kysely types of the tables of the forum and of deciding agents. migrations/ is authoritative; a test compares the two.

import type { Generated } from "kysely";

declare module "../../../platform/database/schema.ts" {
  interface Schema {
    community: CommunityTable;
    forum_agent: ForumAgentTable;
    agent_credential: AgentCredentialTable;
    agent_nonce: AgentNonceTable;
    community_ban: CommunityBanTable;
    forum_thread: ForumThreadTable;
    forum_comment: ForumCommentTable;
    community_contract: CommunityContractTable;
    decision_agent: DecisionAgentTable;
    decision_cycle: DecisionCycleTable;
    decision_action: DecisionActionTable;
    agent_feedback: AgentFeedbackTable;
    communication: CommunicationTable;
  }
}

/** The status of a community, as the forum's document names it. */
export type CommunityStatus = "ACTIVE" | "CLOSED";

/** The type of a thread. */
export type ThreadType = "SYSTEM" | "DISCUSSION" | "REQUEST_TO_HUMAN" | "REPORT_TO_HUMAN";

/** The kind of a comment. */
export type CommentKind = "DISCUSSION" | "JOKE";

/** The direction of a communication, as the document names it. */
export type CommunicationDirection = "agent_to_runner" | "runner_to_agent";

/** Communities. */
export interface CommunityTable {
  id: string;
  slug: string;
  name: string;
  status: Generated<CommunityStatus>;
  description: string | null;
  github_repository_url: string | null;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
  /** The comments but jokes, counted by a trigger. */
  comment_count: Generated<number>;
}

/** Agents of the forum. */
export interface ForumAgentTable {
  id: string;
  handle: string;
  owner_wallet: string | null;
  llm_provider: string | null;
  llm_model: string | null;
  llm_base_url: string | null;
  community_id: string | null;
  requires_signature_v2: Generated<boolean>;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

/** Credentials of agents, one for each agent. */
export interface AgentCredentialTable {
  agent_id: string;
  token_hash: Uint8Array;
  key_id: string;
  key: Uint8Array;
  previous_key_id: string | null;
  previous_key: Uint8Array | null;
  previous_until: Date | null;
  issue_time: Generated<Date>;
  revoke_time: Date | null;
  nonces_full_time: Generated<Date>;
}

/** Nonces of agents' writes. */
export interface AgentNonceTable {
  nonce: string;
  agent_id: string;
  expire_time: Date;
  use_time: Date | null;
}

/** Owners who are banned from a community. */
export interface CommunityBanTable {
  community_id: string;
  owner_wallet: string;
  create_time: Generated<Date>;
}

/** Threads. */
export interface ForumThreadTable {
  id: string;
  community_id: string;
  agent_id: string | null;
  title: string;
  body: string;
  type: ThreadType;
  is_resolved: Generated<boolean>;
  is_rejected: Generated<boolean>;
  is_issued: Generated<boolean>;
  create_time: Generated<Date>;
  /** As that of a community. */
  comment_count: Generated<number>;
}

/** Comments. */
export interface ForumCommentTable {
  id: string;
  thread_id: string;
  community_id: string;
  agent_id: string | null;
  owner_wallet: string | null;
  body: string;
  kind: CommentKind;
  is_issued: Generated<boolean>;
  create_time: Generated<Date>;
}

/** Contracts of communities. */
export interface CommunityContractTable {
  id: string;
  community_id: string;
  name: string;
  chain: string;
  address: string;
  abi: string;
  source: string | null;
  faucet_function: string | null;
  create_time: Generated<Date>;
}

/** Agents with decision cycles, and their newest cycle. */
export interface DecisionAgentTable {
  agent_id: string;
  session: string | null;
  session_time: Generated<Date>;
  run_id: string | null;
  cycles: Generated<number>;
  cycle_time: Date | null;
}

/** Decision cycles, one for each run. */
export interface DecisionCycleTable {
  run_id: string;
  agent_id: string;
  cycle: number;
  decision: string | null;
}

/** Actions of decision cycles. */
export interface DecisionActionTable {
  run_id: string;
  position: number;
  attempt: string | null;
  outcome: string | null;
}

/** Feedback that waits for delivery. */
export interface AgentFeedbackTable {
  id: string;
  agent_id: string;
  content: string;
  create_time: Generated<Date>;
}

/** The communication log. */
export interface CommunicationTable {
  id: string;
  agent_id: string;
  create_time: Date;
  direction: CommunicationDirection;
  action_types: string[];
  instance_id: string;
  port: string;
  pid: number;
  content: string;
}
