// The calls of functions with which a run has ended: a person gives their results, and the next run has them.

import { create } from "@bufbuild/protobuf";
import { useId, useState } from "react";
import { MessageSchema, type ToolCall } from "#gen/runnel/v1/message_pb.js";
import { failureText } from "../lib/failure-text.ts";
import { visibleText } from "../lib/visible-text.ts";
import { JsonBlock } from "../ui/code-block.tsx";
import { Icon } from "../ui/icon.tsx";
import type { Sent } from "./composer.tsx";

interface Result {
  readonly text: string;
  readonly isError: boolean;
}

const noResult: Result = { text: "", isError: false };

export function PendingCalls({
  calls,
  onSend,
}: {
  readonly calls: readonly ToolCall[];
  /** Fails with the reason why the results were not sent. */
  readonly onSend: (sent: Sent) => Promise<void>;
}) {
  const [results, setResults] = useState<Readonly<Record<string, Result>>>({});
  // After a broken call, the same results are sent once.
  const [requestId, setRequestId] = useState(() => crypto.randomUUID());
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const resultOf = ({ id }: ToolCall): Result => results[id] ?? noResult;
  const send = async (): Promise<void> => {
    setBusy(true);
    setProblem("");
    try {
      const messages = calls.map((call) => {
        const { text, isError } = resultOf(call);
        return create(MessageSchema, {
          role: "tool",
          toolCallId: call.id,
          content: { case: "text", value: text },
          isError,
        });
      });
      await onSend({ messages, model: "", requestId });
    } catch (failure) {
      setProblem(`The results were not sent: ${failureText(failure)}`);
      setBusy(false);
    }
  };
  return (
    <form
      className="composer pending-calls"
      aria-label="Answer the calls"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {calls.map((call) => (
        <PendingCall
          key={call.id}
          call={call}
          result={resultOf(call)}
          onResult={(result) => {
            setResults((before) => ({ ...before, [call.id]: result }));
            setRequestId(crypto.randomUUID());
          }}
        />
      ))}
      {problem !== "" && (
        <p className="problem" role="alert">
          {visibleText(problem)}
        </p>
      )}
      <div className="composer-foot">
        <span className="hint">
          The agent waits for {calls.length === 1 ? "this result" : "these results"}. A message instead tells it that
          there is none.
        </span>
        <button type="submit" className="button primary" disabled={isBusy}>
          <Icon name="send" />
          {isBusy ? "Sending …" : calls.length === 1 ? "Send the result" : "Send the results"}
        </button>
      </div>
    </form>
  );
}

function PendingCall({
  call: { name, arguments: given },
  result: { text, isError },
  onResult,
}: {
  readonly call: ToolCall;
  readonly result: Result;
  readonly onResult: (result: Result) => void;
}) {
  const id = useId();
  return (
    <div className="field">
      <JsonBlock label={`arguments of ${visibleText(name)}`} json={given} />
      <label htmlFor={id}>
        Result of <bdi>{visibleText(name)}</bdi>
      </label>
      <textarea
        id={id}
        className="input"
        rows={2}
        dir="auto"
        value={text}
        onInput={(event) => onResult({ text: event.currentTarget.value, isError })}
      />
      <label className="check">
        <input
          type="checkbox"
          checked={isError}
          onChange={(event) => onResult({ text, isError: event.currentTarget.checked })}
        />
        The call failed
      </label>
    </div>
  );
}
