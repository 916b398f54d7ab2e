// Starts a run, and shows the same call in other languages. It also repeats a run with its input edited, and forks a session.

import { useQuery } from "@connectrpc/connect-query";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import type { GetRunInputResponse } from "#gen/runnel/v1/run_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { startRun } from "../api/first-message.ts";
import { Icon } from "../ui/icon.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { CallExamples } from "./call-examples.tsx";
import { Chips } from "./chips.tsx";
import { builtinTools, type Draft, emptyDraft } from "./draft.ts";
import { filesOf, withFiles, wordsOf } from "./files.ts";
import { FilesField } from "./files-field.tsx";
import { ForkPoint } from "./fork-point.tsx";
import { MoreSettings } from "./more-settings.tsx";
import { findProblems, makeAgent, type Problems, problemsOf, settingsOf, startTimeOf } from "./settings.ts";

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
    ...settingsOf(agent),
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
  const [problems, setProblems] = useState<Problems>({});
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => showProblem(form.current, problems), [problems]);
  const models = useQuery(ProviderService.method.listModels, {});
  const presets = useQuery(SessionService.method.listPresets, {});
  const set = (change: Partial<Draft>): void => setDraft((current) => ({ ...current, ...change }));
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    const isCompared = submitter instanceof HTMLButtonElement && submitter.name === "compare";
    setError(undefined);
    const found = findProblems(draft);
    setProblems(found);
    if (Object.keys(found).length > 0) {
      return;
    }
    setBusy(true);
    try {
      const runId = await start(draft, origin);
      navigate(
        isCompared && origin !== undefined
          ? `/compare?${new URLSearchParams({ a: origin.runId, b: runId })}`
          : `/runs/${runId}`,
      );
    } catch (failure) {
      const refused = problemsOf(failure);
      setProblems(refused);
      setError(Object.keys(refused).length > 0 ? undefined : failure);
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
        <form ref={form} className="form" onSubmit={(event) => void submit(event)}>
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
          <FilesField files={draft.files} onChange={(files) => set({ files })} />
          <div className="field-row">
            <div className="field">
              <label htmlFor={`${id}name`}>Agent</label>
              <input
                id={`${id}name`}
                className="input"
                required={draft.preset === ""}
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
                onChange={(event) => set(withPreset(draft, event.currentTarget.value))}
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
          </div>
          <Chips
            legend="Tools"
            choices={[...new Set([...builtinTools, ...draft.tools])]}
            chosen={draft.tools}
            onChange={(tools) => set({ tools })}
          />
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
          <MoreSettings draft={draft} problems={problems} onChange={set} />
          {error !== undefined && <Failure error={error} />}
          <div className="actions">
            <button type="submit" className="button primary" disabled={isBusy}>
              {isBusy ? "Starting …" : "Start the run"}
            </button>
            {origin !== undefined && (
              <button type="submit" name="compare" className="button" disabled={isBusy}>
                Start and compare
              </button>
            )}
            <span className="hint">Ctrl or ⌘ and Enter</span>
          </div>
        </form>
        <CallExamples draft={draft} />
      </div>
    </div>
  );
}

/** Starts the run and returns its id. A repeated run keeps the settings that the form does not show. */
async function start(draft: Draft, origin: GetRunInputResponse | undefined): Promise<string> {
  const { fork, forkCount, preset, workDir, message, files, annotations } = draft;
  const startTime = startTimeOf(draft);
  return await startRun(
    {
      agent: makeAgent(draft, origin?.agent),
      preset,
      workDir,
      ...(fork !== "" && { fork: { sessionId: fork, messageCount: forkCount } }),
    },
    {
      ...(files.length === 0 ? { message } : { messages: [withFiles(message, files)] }),
      ...(startTime !== undefined && { startTime }),
      annotations,
    },
  );
}

/** A preset has a name of its own, which the usual one would replace. */
function withPreset({ name }: Draft, preset: string): Partial<Draft> {
  const usual = preset === "" ? "" : emptyDraft.name;
  return { preset, ...(name === usual && { name: preset === "" ? emptyDraft.name : "" }) };
}

/** Leads the keyboard to the first field with a problem, which may be folded. */
function showProblem(form: HTMLFormElement | null, problems: Problems): void {
  const field = Object.keys(problems).length > 0 ? form?.querySelector<HTMLElement>('[aria-invalid="true"]') : null;
  const fold = field?.closest("details");
  if (fold) {
    fold.open = true;
  }
  field?.focus();
}
