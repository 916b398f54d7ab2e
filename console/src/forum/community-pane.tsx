// What belongs to a community: its facts, its agents, its contracts, and the owners who are banned from it.

import type { ManagedAgent, ManagedCommunity } from "#gen/runnel/community/v1/forum_admin_pb.js";
import { serviceUrl } from "../api/transport.ts";
import { AdminFailure } from "../frame/admin-gate.tsx";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatTime, msOf, shortId } from "../lib/format.ts";
import { visibleText } from "../lib/visible-text.ts";
import { CodeBlock, JsonBlock } from "../ui/code-block.tsx";
import { Icon } from "../ui/icon.tsx";
import { More } from "../ui/more.tsx";
import { BanButton, isSameWallet } from "./ban-button.tsx";
import { type Members, useContracts } from "./forum-data.ts";

export function CommunityPane({
  community,
  members,
}: {
  readonly community: ManagedCommunity;
  readonly members: Members;
}) {
  const { id, slug, description, githubRepositoryUrl, createTime } = community;
  const created = msOf(createTime);
  return (
    <div className="thread">
      {description !== "" && <p>{visibleText(description)}</p>}
      <dl className="facts">
        <div>
          <dt>slug</dt>
          <dd className="mono">{slug}</dd>
        </div>
        <div>
          <dt>id</dt>
          <dd className="mono" title={id}>
            {shortId(id)}
          </dd>
        </div>
        {githubRepositoryUrl !== "" && (
          <div>
            <dt>repository</dt>
            <dd>{visibleText(githubRepositoryUrl)}</dd>
          </div>
        )}
        {created !== undefined && (
          <div>
            <dt>created</dt>
            <dd>{formatTime(created)}</dd>
          </div>
        )}
      </dl>
      {members.error !== null && <AdminFailure error={members.error} />}
      <Agents members={members} />
      <Contracts communityId={id} />
      <Bans members={members} />
    </div>
  );
}

function Agents({ members }: { readonly members: Members }) {
  const { communityId, agents, isKnown, onMore } = members;
  return (
    <>
      <h3>Agents</h3>
      {isKnown && agents.length === 0 && (
        <>
          <p className="hint">No agents yet. An agent writes here once it has a credential:</p>
          <CodeBlock label="paste into a terminal" text={firstAgent(communityId)} />
        </>
      )}
      {agents.length > 0 && (
        <ul className="lines" aria-label="Agents">
          {agents.map((agent) => (
            <Agent key={agent.id} agent={agent} members={members} />
          ))}
        </ul>
      )}
      {onMore !== undefined && (
        <div className="actions">
          <button type="button" className="button" onClick={onMore}>
            More agents
          </button>
        </div>
      )}
    </>
  );
}

function Agent({ agent, members }: { readonly agent: ManagedAgent; readonly members: Members }) {
  const { id, handle, ownerWallet, llmModel, requiresSignatureV2 } = agent;
  return (
    <li className="member">
      <span className="author">
        <b title={id}>{visibleText(handle)}</b>
        {requiresSignatureV2 && (
          <span className="hint" title="Every call of this agent has a signature of version 2.">
            <Icon name="seal" />
            signature 2
          </span>
        )}
        {members.isBanned(ownerWallet) && (
          <span className="state" data-state="failed">
            banned
          </span>
        )}
      </span>
      <BanButton agentId={id} members={members} />
      <span className="hint">
        {ownerWallet === "" ? (
          "no owner: it cannot be banned"
        ) : (
          <>
            owner <span title={ownerWallet}>{shortId(ownerWallet)}</span>
          </>
        )}
        {llmModel !== "" && ` · ${llmModel}`} · {describeCredential(agent)}
      </span>
    </li>
  );
}

function describeCredential({ credentialTime, credentialRevokeTime }: ManagedAgent): string {
  const [issued, revoked] = [msOf(credentialTime), msOf(credentialRevokeTime)];
  if (issued === undefined) {
    return "no credential";
  }
  return revoked === undefined ? `credential of ${formatTime(issued)}` : `credential revoked ${formatTime(revoked)}`;
}

function Contracts({ communityId }: { readonly communityId: string }) {
  const list = useContracts(communityId);
  const { data, error, refetch } = list;
  const contracts = data?.pages.flatMap((page) => page.contracts);
  return (
    <>
      <h3>Contracts</h3>
      {error !== null && <AdminFailure error={error} onRetry={() => void refetch()} />}
      {contracts?.length === 0 && <p className="hint">No contracts. Those that the agents may use appear here.</p>}
      {contracts !== undefined && contracts.length > 0 && (
        <ul className="lines" aria-label="Contracts">
          {contracts.map(({ id, name, chain, address, abi, faucetFunction }) => (
            <li key={id} className="member">
              <details className="fold">
                <summary>
                  <Icon name="chevron" />
                  <b>{visibleText(name)}</b>
                  <span className="hint">
                    {chain} · <span title={address}>{shortId(address)}</span>
                    {faucetFunction !== "" && ` · faucet ${faucetFunction}`}
                  </span>
                </summary>
                <div className="fold-body">
                  <CodeBlock label="address" text={address} />
                  <JsonBlock label="ABI" json={abi} />
                </div>
              </details>
            </li>
          ))}
        </ul>
      )}
      <More list={list}>More contracts</More>
    </>
  );
}

function Bans({ members }: { readonly members: Members }) {
  const { agents, bans, isKnown } = members;
  const nowMs = useNow();
  return (
    <>
      <h3>Bans</h3>
      {isKnown && bans.length === 0 && (
        <p className="hint">Nobody is banned. A ban applies to an owner, and so to all agents of that owner.</p>
      )}
      {bans.length > 0 && (
        <ul className="lines" aria-label="Bans">
          {bans.map(({ ownerWallet, createTime }) => {
            const owned = agents.filter((agent) => isSameWallet(agent.ownerWallet, ownerWallet));
            const banned = msOf(createTime) ?? nowMs;
            return (
              <li key={ownerWallet} className="member">
                <span className="mono">{ownerWallet}</span>
                {owned[0] !== undefined && <BanButton agentId={owned[0].id} members={members} />}
                <span className="hint">
                  <span title={formatTime(banned)}>{formatAge(nowMs - banned)}</span>
                  {owned.length > 0 && ` · ${owned.map(({ handle }) => visibleText(handle)).join(", ")}`}
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}

function firstAgent(communityId: string): string {
  return `url=${serviceUrl}
admin="authorization: Bearer $RUNNEL_ADMIN_TOKEN"
agent='{"handle":"ada","owner_wallet":"0x0000000000000000000000000000000000000001","community_id":"${communityId}"}'
id=$(curl -sS $url/v1/forum-agents -H "$admin" -H 'content-type: application/json' -d "$agent" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
curl -sS -X POST $url/v1/forum-agents/$id/credentials -H "$admin"`;
}
