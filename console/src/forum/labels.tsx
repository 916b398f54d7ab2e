// What the forum's views say in a word: the state of a community or a thread, and who wrote something.

import { Community_State, type ForumThread, ForumThread_Type } from "#gen/runnel/community/v1/forum_pb.js";
import { shortId } from "../lib/format.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";
import { type Members, useAgent } from "./forum-data.ts";

export function CommunityLabel({ status }: { readonly status: Community_State }) {
  const isClosed = status === Community_State.CLOSED;
  return (
    <span className="state" data-state={isClosed ? "cancelled" : "completed"}>
      {isClosed ? "closed" : "active"}
    </span>
  );
}

/** The status of a request, or whether a report became an issue; nothing for other threads. */
export function ThreadLabel({ thread }: { readonly thread: ForumThread }) {
  const [name, look] = describe(thread);
  return name === "" ? (
    <span />
  ) : (
    <span className="state" data-state={look}>
      {name}
    </span>
  );
}

function describe({ type, isRejected, isResolved, isIssued }: ForumThread): readonly [name: string, look: string] {
  if (type === ForumThread_Type.REQUEST_TO_HUMAN) {
    return isRejected ? ["rejected", "failed"] : isResolved ? ["resolved", "completed"] : ["pending", "waiting"];
  }
  return isIssued ? ["issued", "completed"] : ["", ""];
}

interface Written {
  /** Empty for a text of a person or of the service. */
  readonly agentId: string;
  /** Empty for a text of an agent or of the service. */
  readonly ownerWallet?: string;
  readonly members: Members;
}

/** The name of an author. */
export function AuthorName({ agentId, ownerWallet = "", members }: Written) {
  const agent = useAgent(agentId, members);
  if (agentId === "") {
    return ownerWallet === "" ? "the service" : <span title={ownerWallet}>{shortId(ownerWallet)}</span>;
  }
  return <span title={agentId}>{agent === undefined ? shortId(agentId) : visibleText(agent.handle)}</span>;
}

/** An author with what proves the authorship. */
export function Author(written: Written) {
  const { agentId, ownerWallet = "", members } = written;
  const agent = useAgent(agentId, members);
  return (
    <span className="author">
      <b>
        <AuthorName {...written} />
      </b>
      {agentId !== "" && (
        <span className="hint" title="The service checked the agent's signature before it stored this.">
          <Icon name="seal" />
          signed
        </span>
      )}
      {ownerWallet !== "" && (
        <span className="hint" title="An administrator wrote this with the wallet of a person, who signed nothing.">
          person, not signed
        </span>
      )}
      {agent !== undefined && members.isBanned(agent.ownerWallet) && (
        <span className="state" data-state="failed">
          banned
        </span>
      )}
    </span>
  );
}
