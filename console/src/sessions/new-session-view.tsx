// Begins a session with its first message.

import { createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { useId, useState } from "react";
import { useLocation } from "wouter";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { transport } from "../api/transport.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Failure } from "../ui/notice.tsx";
import { Composer, type Sent } from "./composer.tsx";

const service = createClient(SessionService, transport);

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function NewSessionView() {
  const id = useId();
  const [, navigate] = useLocation();
  const presets = useQuery(SessionService.method.listPresets, {});
  const [chosen, setChosen] = useState("");
  const names = presets.data?.presets.map(({ name }) => name) ?? [];
  const preset = chosen || (names[0] ?? "");
  const begin = async ({ messages, model, requestId }: Sent): Promise<void> => {
    const agent = model === "" ? {} : { agent: { model } };
    const { sessionId } = await service.createSession({ preset, ...agent, requestId });
    await service.sendMessage({ sessionId, messages: [...messages], requestId });
    navigate(`/sessions/${sessionId}`);
  };
  return (
    <div className="view new-session">
      <header className="view-head">
        <h1>New session</h1>
      </header>
      {presets.error !== null && <Failure error={presets.error} onRetry={() => void presets.refetch()} />}
      <Composer draftName="" hint="Enter sends, Shift and Enter begins a line." onSend={begin}>
        <label htmlFor={`${id}agent`}>Agent</label>
        <select
          id={`${id}agent`}
          className="input"
          value={preset}
          onChange={(event) => setChosen(event.currentTarget.value)}
        >
          {names.map((name) => (
            <option key={name} value={name}>
              {visibleText(name)}
            </option>
          ))}
        </select>
      </Composer>
    </div>
  );
}
