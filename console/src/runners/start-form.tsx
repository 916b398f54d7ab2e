// Starts a run of a binding with a message. The event names the scope of the binding, so no other binding takes it unseen: the
// service refuses an event that several bindings match.

import { createClient } from "@connectrpc/connect";
import { type FormEvent, useId, useState } from "react";
import { useLocation } from "wouter";
import { type Binding, BindingScope_Kind } from "#gen/runnel/runner/v1/binding_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { transport } from "../api/transport.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Failure } from "../ui/notice.tsx";
import { eventTypesOf } from "./describe.ts";

const service = createClient(RunnerService, transport);

export function StartForm({ binding }: { readonly binding: Binding }) {
  const id = useId();
  const [, navigate] = useLocation();
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const types = eventTypesOf(binding);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setBusy(true);
    setError(undefined);
    try {
      navigate(`/runs/${await start(binding, fields)}`);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <form className="form" onSubmit={(event) => void submit(event)}>
      <div className="field">
        <label htmlFor={`${id}text`}>Message</label>
        <textarea id={`${id}text`} name="text" className="input" rows={2} required />
      </div>
      <div className="field-row">
        <div className="field">
          <label htmlFor={`${id}type`}>Event</label>
          <select id={`${id}type`} name="type" className="input">
            {types.map((type) => (
              <option key={type} value={type}>
                {visibleText(type)}
              </option>
            ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor={`${id}conversation`}>Conversation</label>
          <input
            id={`${id}conversation`}
            name="conversation"
            className="input"
            defaultValue="console"
            maxLength={256}
            spellCheck={false}
          />
        </div>
      </div>
      {error !== undefined && <Failure error={error} />}
      <div className="actions">
        <button type="submit" className="button primary" disabled={isBusy}>
          Start the run
        </button>
      </div>
    </form>
  );
}

/** Returns the id of the run. */
async function start(binding: Binding, fields: FormData): Promise<string> {
  const eventType = String(fields.get("type"));
  const conversationId = String(fields.get("conversation")).trim();
  const eventId = crypto.randomUUID();
  const { run } = await service.startRun({
    requestId: eventId,
    event: {
      eventId,
      eventType,
      source: "console",
      trigger: { type: eventType, source: "webui" },
      actor: { actorType: "user", actorId: "console" },
      input: { text: String(fields.get("text")) },
      ...(conversationId !== "" && { conversationId }),
      ...partyOf(binding),
    },
  });
  return run?.runId ?? "";
}

function partyOf({ scope }: Binding): { workspaceId?: string; botId?: string; agentId?: string } {
  switch (scope?.kind) {
    case BindingScope_Kind.WORKSPACE:
      return { workspaceId: scope.id };
    case BindingScope_Kind.BOT:
      return { botId: scope.id };
    case BindingScope_Kind.AGENT:
      return { agentId: scope.id };
    default:
      return {};
  }
}
