// Starts a run, and shows the same call in other languages. It also repeats a run with its input edited, and forks a session.

import { clone, create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { type FormEvent, useId, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import type { ContentElement } from "#gen/runnel/v1/message_pb.js";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import type { GetRunInputResponse } from "#gen/runnel/v1/run_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { type Agent, AgentSchema, AgentToolsSchema } from "#gen/runnel/v1/session_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { transport } from "../api/transport.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { CallExamples } from "./call-examples.tsx";
import { builtinTools, type Draft, emptyDraft } from "./draft.ts";
import { filesOf, nameOf, readFile, withFiles, wordsOf } from "./files.ts";
import { ForkPoint } from "./fork-point.tsx";

const sessions = createClient(SessionService, transport);

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function NewRunView() {
  const [parameters] = useSearchParams();
  const from = parameters.get("from") ?? "";
  const input = useQuery(RunService.method.getRunInput, { runId: from }, { enabled: from !== "" });
  if (from === "") {
    return <NewRunForm key="empty" draft={emptyDraft} />;
  }
  if (input.error !== null) {
    return <Failure error={input.error} onRetry={() => void input.refetch()} />;
  }
  return input.data === undefined ? (
    <Loading what="the input of the run" />
  ) : (
    <NewRunForm key={from} draft={draftOf(input.data, parameters)} origin={input.data} />
  );
}

function draftOf(input: GetRunInputResponse, parameters: URLSearchParams): Draft {
  const { agent, messages } = input;
  const message = messages.findLast(({ role }) => role === "user");
  return {
    ...emptyDraft,
    name: agent?.name ?? emptyDraft.name,
    model: agent?.model ?? "",
    systemPrompt: agent?.systemPrompt ?? "",
    maxTurns: agent !== undefined && agent.maxTurns > 0 ? String(agent.maxTurns) : "",
    tools: agent?.tools?.builtin ?? [],
    message: wordsOf(message),
    files: filesOf(message),
    fork: parameters.get("fork") ?? "",
    forkCount: Number(parameters.get("count") ?? 0),
  };
}

function NewRunForm({ draft: first, origin }: { readonly draft: Draft; readonly origin?: GetRunInputResponse }) {
  const id = useId();
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState(first);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const models = useQuery(ProviderService.method.listModels, {});
  const presets = useQuery(SessionService.method.listPresets, {});
  const set = (change: Partial<Draft>): void => setDraft((current) => ({ ...current, ...change }));
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      navigate(`/runs/${await start(draft, origin)}`);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  const title = draft.fork !== "" ? "Fork a session" : origin === undefined ? "New run" : "Run again";
  return (
    <div className="view new-run">
      <header className="view-head">
        <h1>{title}</h1>
      </header>
      <div className="new-run-columns">
        <form className="form" onSubmit={(event) => void submit(event)}>
          {draft.fork !== "" && (
            <ForkPoint session={draft.fork} count={draft.forkCount} onCount={(forkCount) => set({ forkCount })} />
          )}
          <div className="field">
            <label htmlFor={`${id}message`}>Message</label>
            <textarea
              id={`${id}message`}
              className="input"
              rows={5}
              required
              value={draft.message}
              placeholder="What should the agent do?"
              onInput={(event) => set({ message: event.currentTarget.value })}
              onKeyDown={(event) => {
                if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
                  event.currentTarget.form?.requestSubmit();
                }
              }}
            />
          </div>
          <Files files={draft.files} onChange={(files) => set({ files })} />
          <div className="field-row">
            <div className="field">
              <label htmlFor={`${id}name`}>Agent</label>
              <input
                id={`${id}name`}
                className="input"
                required
                value={draft.name}
                onInput={(event) => set({ name: event.currentTarget.value })}
              />
            </div>
            <div className="field">
              <label htmlFor={`${id}preset`}>Preset</label>
              <select
                id={`${id}preset`}
                className="input"
                value={draft.preset}
                onChange={(event) => set({ preset: event.currentTarget.value })}
              >
                <option value="">none</option>
                {presets.data?.presets.map(({ name }) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </div>
          </div>
          <div className="field-row">
            <div className="field">
              <label htmlFor={`${id}model`}>Model</label>
              <input
                id={`${id}model`}
                className="input"
                list={`${id}models`}
                value={draft.model}
                placeholder={
                  models.data?.models[0] === undefined ? "default" : `default: ${models.data.models[0].name}`
                }
                autoComplete="off"
                spellCheck={false}
                onInput={(event) => set({ model: event.currentTarget.value })}
              />
              <datalist id={`${id}models`}>
                {models.data?.models.map(({ name, provider }) => (
                  <option key={name} value={name}>
                    {provider}
                  </option>
                ))}
              </datalist>
            </div>
            <div className="field">
              <label htmlFor={`${id}turns`}>Maximum turns</label>
              <input
                id={`${id}turns`}
                className="input"
                type="number"
                min={1}
                value={draft.maxTurns}
                placeholder="default"
                onInput={(event) => set({ maxTurns: event.currentTarget.value })}
              />
            </div>
          </div>
          <fieldset className="chips">
            <legend>Tools</legend>
            {[...new Set([...builtinTools, ...draft.tools])].map((tool) => (
              <label key={tool} className="chip">
                <input
                  type="checkbox"
                  checked={draft.tools.includes(tool)}
                  onChange={() =>
                    set({
                      tools: draft.tools.includes(tool)
                        ? draft.tools.filter((each) => each !== tool)
                        : [...draft.tools, tool],
                    })
                  }
                />
                {tool}
              </label>
            ))}
          </fieldset>
          <details className="fold" open={first.systemPrompt !== ""}>
            <summary>
              <Icon name="chevron" />
              Instructions and directory
            </summary>
            <div className="fold-body">
              <div className="field">
                <label htmlFor={`${id}system`}>System prompt</label>
                <textarea
                  id={`${id}system`}
                  className="input"
                  rows={4}
                  value={draft.systemPrompt}
                  onInput={(event) => set({ systemPrompt: event.currentTarget.value })}
                />
              </div>
              <div className="field">
                <label htmlFor={`${id}directory`}>Work directory on the service's machine</label>
                <input
                  id={`${id}directory`}
                  className="input mono"
                  value={draft.workDir}
                  placeholder="an empty directory of its own"
                  spellCheck={false}
                  onInput={(event) => set({ workDir: event.currentTarget.value })}
                />
              </div>
            </div>
          </details>
          {error !== undefined && <Failure error={error} />}
          <div className="actions">
            <button type="submit" className="button primary" disabled={isBusy}>
              {isBusy ? "Starting …" : "Start the run"}
            </button>
            <span className="hint">Ctrl or ⌘ and Enter</span>
          </div>
        </form>
        <CallExamples draft={draft} />
      </div>
    </div>
  );
}

function Files({
  files,
  onChange,
}: {
  readonly files: readonly ContentElement[];
  readonly onChange: (files: readonly ContentElement[]) => void;
}) {
  const id = useId();
  const [error, setError] = useState<unknown>(undefined);
  const add = async (input: HTMLInputElement): Promise<void> => {
    try {
      onChange([...files, ...(await Promise.all([...(input.files ?? [])].map(readFile)))]);
      setError(undefined);
    } catch (failure) {
      setError(failure);
    }
    // The same file may be chosen again.
    input.value = "";
  };
  return (
    <div className="field">
      <label htmlFor={`${id}files`}>Images and files</label>
      <input
        id={`${id}files`}
        className="input"
        type="file"
        multiple
        onChange={(event) => void add(event.currentTarget)}
      />
      {error !== undefined && <Failure error={error} />}
      {files.length > 0 && (
        <ul className="chips" aria-label="Chosen files">
          {files.map((file, index) => (
            <li key={`${index} ${nameOf(file)}`}>
              <button
                type="button"
                className="chip"
                aria-label={`Remove ${nameOf(file)}`}
                onClick={() => onChange(files.filter((each) => each !== file))}
              >
                {visibleText(nameOf(file))}
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Starts the run and returns its id. A repeated run keeps the settings that the form does not show. */
async function start(draft: Draft, origin: GetRunInputResponse | undefined): Promise<string> {
  const { fork, forkCount, preset, workDir, message, files } = draft;
  const { sessionId } = await sessions.createSession({
    agent: makeAgent(draft, origin?.agent),
    preset,
    workDir,
    ...(fork !== "" && { fork: { sessionId: fork, messageCount: forkCount } }),
    requestId: crypto.randomUUID(),
  });
  const { runId } = await sessions.sendMessage({
    sessionId,
    ...(files.length === 0 ? { message } : { messages: [withFiles(message, files)] }),
    requestId: crypto.randomUUID(),
  });
  return runId;
}

function makeAgent({ name, model, systemPrompt, maxTurns, tools }: Draft, origin: Agent | undefined): Agent {
  const agent = origin === undefined ? create(AgentSchema) : clone(AgentSchema, origin);
  Object.assign(agent, { name, model, systemPrompt, maxTurns: Number(maxTurns) });
  if (tools.length > 0 || agent.tools !== undefined) {
    agent.tools ??= create(AgentToolsSchema);
    agent.tools.builtin = [...tools];
  }
  return agent;
}
