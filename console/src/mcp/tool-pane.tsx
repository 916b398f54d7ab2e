// One tool of a server: what it does, a form of its arguments, and what a call returned.

import { createClient } from "@connectrpc/connect";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { McpService, type McpTool } from "#gen/runnel/v1/mcp_service_pb.js";
import { transport } from "../api/transport.ts";
import { readJson } from "../lib/free-json.ts";
import { prettyJson, visibleText } from "../lib/visible-text.ts";
import { ToolCall, type ToolContent } from "../run/tool-call.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { Fact } from "../ui/fact.tsx";
import { Failure } from "../ui/notice.tsx";
import { type ArgumentField, argumentsOf, fieldsOf, initialTexts, textsOf } from "./argument-fields.ts";
import { ArgumentInput } from "./argument-input.tsx";
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

/** The arguments as JSON, when a person writes them so, or when the schema has no fields to show. */
type Written = { readonly json: string } | undefined;

function CallForm({ server, tool }: { readonly server: AskedServer; readonly tool: McpTool }) {
  const fields = fieldsOf(tool.inputSchema);
  const [texts, setTexts] = useState(() => initialTexts(fields ?? []));
  const [written, setWritten] = useState<Written>(fields === undefined ? { json: "{}" } : undefined);
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const { made, error, isBusy, call } = useCall(server, tool);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const given = written === undefined ? argumentsOf(fields ?? [], texts) : readWritten(written.json);
    setProblems(given.problems);
    if (given.problems.size === 0) {
      void call(given.json);
    }
  };
  const change = (): void => {
    setProblems(new Map());
    if (written === undefined) {
      setWritten({ json: argumentsOf(fields ?? [], texts).json });
      return;
    }
    const read = textsOf(fields ?? [], written.json);
    if (read === undefined) {
      setProblems(
        new Map([[jsonName, "The fields cannot show this: write an object with the members of the schema."]]),
      );
      return;
    }
    setTexts(read);
    setWritten(undefined);
  };
  return (
    <form className="form" aria-label="Call the tool" onSubmit={submit}>
      {written === undefined ? (
        <Fields
          fields={fields ?? []}
          texts={texts}
          problems={problems}
          onChange={(name, text) => setTexts((before) => ({ ...before, [name]: text }))}
        />
      ) : (
        <ArgumentInput
          field={jsonField}
          text={written.json}
          problem={problems.get(jsonName)}
          onChange={(json) => setWritten({ json })}
        />
      )}
      <div className="actions">
        <button type="submit" className="button primary" disabled={isBusy}>
          Call
        </button>
        {fields !== undefined && (
          <button type="button" className="button quiet" onClick={change}>
            {written === undefined ? "Write JSON" : "Show fields"}
          </button>
        )}
        <span role="status" className="hint">
          {isBusy && "The tool works …"}
        </span>
      </div>
      {error !== undefined && <Failure error={error} />}
      {made !== undefined && <ToolCall startMs={made.startMs} content={made.content} isOpen />}
    </form>
  );
}

function Fields({
  fields,
  texts,
  problems,
  onChange,
}: {
  readonly fields: readonly ArgumentField[];
  readonly texts: Readonly<Record<string, string>>;
  readonly problems: ReadonlyMap<string, string>;
  readonly onChange: (name: string, text: string) => void;
}) {
  return fields.length === 0 ? (
    <p className="hint">The schema names no arguments.</p>
  ) : (
    fields.map((field) => (
      <ArgumentInput
        key={field.name}
        field={field}
        text={texts[field.name] ?? ""}
        problem={problems.get(field.name)}
        onChange={(text) => onChange(field.name, text)}
      />
    ))
  );
}

const jsonName = "Arguments";
const jsonField: ArgumentField = {
  ...{ name: jsonName, kind: "json", type: "object", description: "", isRequired: false, choices: {}, initial: "" },
};

function readWritten(json: string): ReturnType<typeof argumentsOf> {
  const value = readJson(json);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return { json, problems: new Map(isObject ? [] : [[jsonName, "This is no JSON object."]]) };
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
