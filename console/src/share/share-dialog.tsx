// Makes a link to one run for a reader without a key, and says how long it works.

import { createClient } from "@connectrpc/connect";
import { useQuery } from "@tanstack/react-query";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { transport } from "../api/transport.ts";
import { useNow } from "../lib/clock.ts";
import { formatTime, msOf } from "../lib/format.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { writeLink } from "./shared-link.ts";

const auth = createClient(AuthService, transport);
/** The time in which a ticket must be used first: the contract says it, and no response does. */
const openSeconds = 60;

interface MadeLink {
  readonly address: string;
  readonly openUntilMs: number;
  readonly worksUntilMs: number;
}

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function ShareDialog({ runId, onClose }: { readonly runId: string; readonly onClose: () => void }) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ["shared link", runId],
    queryFn: () => makeLink(runId),
    // The page forgets the link with the dialog, and makes another one only when a person asks.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <Dialog title="Share this run" onClose={onClose}>
      <div className="form">
        <p>
          A reader with this link sees the log of this run and how it grows, with the arguments and results of its
          tools. The reader does not see the input or any other run, and cannot do anything.
        </p>
        {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
        {error === null && data === undefined && <Loading what="the link" />}
        {error === null && data !== undefined && (
          <>
            <div className="share-link">
              <input
                className="input mono"
                readOnly
                aria-label="Link"
                value={data.address}
                onFocus={(event) => event.currentTarget.select()}
              />
              <CopyButton label="Copy" what="the link" text={data.address} />
            </div>
            <Validity link={data} />
            <div className="actions">
              <button type="button" className="button" disabled={isFetching} onClick={() => void refetch()}>
                <Icon name="again" />
                Make another link
              </button>
            </div>
          </>
        )}
      </div>
    </Dialog>
  );
}

function Validity({ link: { openUntilMs, worksUntilMs } }: { readonly link: MadeLink }) {
  const nowMs = useNow();
  // The clock of the page ticks by the second, so it may be behind a new link.
  const secondsLeft = Math.min(openSeconds, Math.ceil((openUntilMs - nowMs) / 1_000));
  const until = formatTime(worksUntilMs);
  if (secondsLeft > 0) {
    return (
      <p>
        A reader has to open it within <b>{secondsLeft} s</b>. It then works until {until}, and a page that is open at
        that time continues.
      </p>
    );
  }
  return nowMs < worksUntilMs ? (
    <p>
      Its {openSeconds} seconds are over. If a reader has opened it in time, it works until {until}. If not, make
      another link.
    </p>
  ) : (
    <p>This link expired at {until}. A page that is still open continues.</p>
  );
}

async function makeLink(runId: string): Promise<MadeLink> {
  // Read before the call, so that the page promises no time that is already over.
  const askedMs = Date.now();
  const { ticket, expireTime } = await auth.createStreamTicket({ target: { target: { case: "runId", value: runId } } });
  return {
    address: writeLink({ runId, ticket }),
    openUntilMs: askedMs + openSeconds * 1_000,
    worksUntilMs: msOf(expireTime) ?? askedMs,
  };
}
