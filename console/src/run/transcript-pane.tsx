// The conversation of a run, one row for each message, tool call and event. It follows the end until one scrolls up.

import { useEffect, useRef, useState } from "react";
import type { Message } from "#gen/runnel/v1/message_pb.js";
import { useShortcuts } from "../lib/shortcuts.ts";
import { Icon } from "../ui/icon.tsx";
import { VirtualList, type VirtualListHandle } from "../ui/virtual-list.tsx";
import { LiveSpeech } from "./live-speech.tsx";
import { MessageBody } from "./message-body.tsx";
import { Plan } from "./plan.tsx";
import type { RunLog } from "./run-log.ts";
import { isOpenCall, Said, TranscriptRow } from "./transcript-row.tsx";

const rowPx = 72;

export function TranscriptPane({
  log,
  isRunning,
  isWaiting,
  mayDecide,
  messages,
  sequence,
  entryAddress,
}: {
  readonly log: RunLog;
  readonly isRunning: boolean;
  /** Whether the run is parked; undefined where only the log is known. */
  readonly isWaiting: boolean | undefined;
  /** False shows an approval as the log has it, without a call. */
  readonly mayDecide: boolean;
  /** The input of the run. */
  readonly messages: readonly Message[];
  readonly sequence: number | undefined;
  readonly entryAddress: (sequence: number) => string;
}) {
  const { rows, plan } = log.transcript;
  const list = useRef<VirtualListHandle>(null);
  // The end of a run that works is where the news is; one that has ended is read from its start.
  const [follows, setFollows] = useState(() => isRunning && sequence === undefined);
  const first = messages.length;
  const index = sequence === undefined ? -1 : first + rows.findLastIndex((row) => row.sequence <= sequence);
  // Read with `index`: the log grows between a rendering and its effects.
  const hasArrived = sequence !== undefined && sequence <= log.cursor;
  const scrolledTo = useRef<number | undefined>(undefined);
  useEffect(() => {
    // Only a new choice scrolls, and not each entry that arrives later.
    if (hasArrived && scrolledTo.current !== sequence) {
      scrolledTo.current = sequence;
      setFollows(false);
      list.current?.scrollTo(index);
    }
  }, [hasArrived, sequence, index]);
  useShortcuts({ End: () => setFollows(true) });
  const hasMore = !follows && isRunning;
  // Without a run, the log tells: its last entry says that the run waits.
  const isParked = isWaiting ?? log.entries.last?.payload.case === "runWaiting";
  return (
    <div className="transcript">
      {plan !== undefined && plan.entries.length > 0 && <Plan entries={plan.entries} />}
      <VirtualList
        handle={list}
        className="transcript-rows"
        role="list"
        label="Transcript"
        isFocusable
        isMeasured
        count={first + rows.length}
        rowPx={rowPx}
        keyOf={(at) => (at < first ? `input-${at}` : (rows[at - first]?.sequence ?? at))}
        follows={follows}
        onFollows={setFollows}
        render={(at) => {
          if (at < first) {
            const message = messages[at];
            return (
              <Said who={message?.role ?? "user"}>
                <MessageBody message={message} />
              </Said>
            );
          }
          const row = rows[at - first];
          return (
            row && (
              <TranscriptRow
                row={row}
                version={row.version}
                href={entryAddress(row.sequence)}
                isRunning={isRunning}
                mayDecide={mayDecide}
                isChosen={at === index}
                isParked={isParked && isOpenCall(row)}
              />
            )
          );
        }}
      />
      {first + rows.length === 0 && <p className="loading">Nothing is written yet.</p>}
      {hasMore && (
        <button type="button" className="button follow" onClick={() => setFollows(true)}>
          <Icon name="down" />
          Follow the end
        </button>
      )}
      <LiveSpeech log={log} />
    </div>
  );
}
