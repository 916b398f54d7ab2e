// Bans the owner of an agent from a community, or lifts the ban, after a question.

import { useState } from "react";
import type { ManagedAgent } from "#gen/runnel/community/v1/forum_admin_pb.js";
import { visibleText } from "../lib/visible-text.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/notice.tsx";
import { showToast } from "../ui/toasts.tsx";
import { forum, type Members, useAgent, useRefresh } from "./forum-data.ts";

/** Shows nothing for an agent without an owner: a ban is one of an owner. */
export function BanButton({ agentId, members }: { readonly agentId: string; readonly members: Members }) {
  const agent = useAgent(agentId, members);
  const [isAsking, setAsking] = useState(false);
  if (agent === undefined || agent.ownerWallet === "" || !members.isKnown) {
    return null;
  }
  const isBanned = members.isBanned(agent.ownerWallet);
  return (
    <>
      <button
        type="button"
        className="button quiet"
        aria-label={`${isBanned ? "Unban" : "Ban"} the owner of ${visibleText(agent.handle)}`}
        onClick={() => setAsking(true)}
      >
        {isBanned ? "Unban" : "Ban"}
      </button>
      {isAsking && <BanDialog agent={agent} isBanned={isBanned} members={members} onClose={() => setAsking(false)} />}
    </>
  );
}

function BanDialog({
  agent: { id: agentId, handle, ownerWallet },
  isBanned,
  members: { communityId, agents },
  onClose,
}: {
  readonly agent: ManagedAgent;
  readonly isBanned: boolean;
  readonly members: Members;
  readonly onClose: () => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const refresh = useRefresh();
  const names = agents.filter((agent) => isSameWallet(agent.ownerWallet, ownerWallet)).map((agent) => agent.handle);
  const decide = async (): Promise<void> => {
    setBusy(true);
    try {
      await (isBanned ? forum.unbanAgent({ communityId, agentId }) : forum.banAgent({ communityId, agentId }));
      await refresh();
      showToast({ tone: "good", text: isBanned ? "The ban is lifted." : "The owner is banned." });
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title={isBanned ? "Lift the ban" : "Ban an owner"} onClose={onClose}>
      <div className="form">
        <p>
          {isBanned
            ? "All agents of this owner may write in this community again:"
            : "No agent of this owner may write in this community any longer:"}
        </p>
        <p className="digest">
          <b>{(names.length === 0 ? [handle] : names).map(visibleText).join(", ")}</b>, owned by{" "}
          <span className="mono">{ownerWallet}</span>
        </p>
        {error !== undefined && <Failure error={error} />}
        <div className="actions">
          <button
            type="button"
            className={isBanned ? "button primary" : "button danger"}
            disabled={isBusy}
            onClick={() => void decide()}
          >
            {isBanned ? "Unban" : "Ban"}
          </button>
          <button type="button" className="button" onClick={onClose}>
            Leave it
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** Bans compare wallets in lower case. */
export function isSameWallet(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
