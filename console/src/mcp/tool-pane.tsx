// One tool of a server: what it does, a form of its arguments, and what a call returned.

import { createClient } from "@connectrpc/connect";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { McpService, type McpTool } from "#gen/runnel/v1/mcp_service_pb.js";
import { transport } from "../api/transport.ts";
import { prettyJson, visibleText } from "../lib/visible-text.ts";
import { ToolCall, type ToolContent } from "../run/tool-call.tsx";
import { useSchemaForm } from "../schema-form/use-schema-form.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { Fact } from "../ui/fact.tsx";
import { Failure } from "../ui/notice.tsx";
import type { AskedServer } from "./server-form.tsx";

const service = createClient(McpService, transport);

export function ToolPane({ server, tool }: { readonly server: AskedServer; readonly tool: McpTool }) {
  const { name, title, description, toolName, inputSchema } = tool;
  return (
    <div className="mcp-tool">
      <header className="inbox-head">
        <h2 className="mono">{visibleText(name)}</h2>
        {title !== "" && <span className="hint">{visibleText(title)}</span>}
      </header>
      {description !== "" && <p dir="auto">{visibleText(description)}</p>}
      <dl className="facts">
        <Fact name="models see">
          <span className="mono">{visibleText(toolName)}</span>
        </Fact>
        <Fact name="the server says">{effectsOf(tool)}</Fact>
      </dl>
      <CallForm server={server} tool={tool} />
      <details className="fold">
        <summary>Schema of the arguments</summary>
        <CodeBlock label="schema" text={prettyJson(inputSchema)} />
      </details>
    </div>
  );
}

function effectsOf({ annotations }: McpTool): string {
  const { readOnly, destructive, idempotent, openWorld } = annotations ?? {};
  const said = [
    [readOnly, "changes nothing", "changes something"],
    [destructive, "may destroy something", "destroys nothing"],
    [idempotent, "a second call changes nothing more", ""],
    [openWorld, "reaches beyond the server", "stays in the server"],
  ] as const;
  return said.flatMap(([value, yes, no]) => (value === undefined ? [] : (value ? yes : no) || [])).join(", ");
}

function CallForm({ server, tool }: { readonly server: AskedServer; readonly tool: McpTool }) {
  const { fields, change, read } = useSchemaForm(tool.inputSchema, "Arguments");
  const { made, error, isBusy, call } = useCall(server, tool);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const json = read();
    if (json !== undefined) {
      void call(json);
    }
  };
  return (
    <form className="form" aria-label="Call the tool" onSubmit={submit}>
      {fields}
      <div className="actions">
        <button type="submit" className="button primary" disabled={isBusy}>
          Call
        </button>
        {change}
        <span role="status" className="hint">
          {isBusy && "The tool works …"}
        </span>
      </div>
      {error !== undefined && <Failure error={error} />}
      {made !== undefined && <ToolCall startMs={made.startMs} content={made.content} isOpen />}
    </form>
  );
}

interface MadeCall {
  readonly startMs: number;
  readonly content: ToolContent;
}

/** Makes calls, and ends the one that works when the person leaves. */
function useCall(server: AskedServer, { name }: McpTool) {
  const [made, setMade] = useState<MadeCall | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const leaving = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const call = async (json: string): Promise<void> => {
    leaving.current = new AbortController();
    const { signal } = leaving.current;
    const startMs = Date.now();
    setBusy(true);
    setError(undefined);
    setMade(undefined);
    try {
      const answer = await service.callMcpTool({ server, tool: name, arguments: json }, { signal });
      const unused = { isOfProvider: false, childRunId: undefined, endSequence: undefined };
      const { result, error: problem } = answer;
      const content = { kind: "tool", name, parameters: json, result, error: problem, ...unused } as const;
      setMade({ startMs, content: { ...content, endMs: Date.now() } });
    } catch (failure) {
      if (!signal.aborted) {
        setError(failure);
      }
    }
    setBusy(false);
  };
  return { made, error, isBusy, call };
}
