// Chooses the settings with which the marked runs are repeated.

import { useQuery } from "@connectrpc/connect-query";
import { type FormEvent, useId, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { formatCount } from "../lib/format.ts";
import { Failure } from "../ui/notice.tsx";
import { keepPlan, promptBytesMax, runsMax } from "./plan.ts";

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function NewEvaluationView() {
  const id = useId();
  const [parameters] = useSearchParams();
  const [, navigate] = useLocation();
  const [model, setModel] = useState("");
  const [systemPrompt, setSystemPrompt] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const models = useQuery(ProviderService.method.listModels, {});
  const sources = (parameters.get("runs") ?? "").split(",").filter((runId) => runId !== "");
  const problem = problemOf(sources.length, systemPrompt);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      const plan = { id: crypto.randomUUID(), sources, model: model.trim(), systemPrompt };
      await keepPlan(plan);
      navigate(`/evaluations/${plan.id}`, { replace: true });
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <div className="view sheet">
      <header className="view-head">
        <h1>Evaluate runs</h1>
      </header>
      {sources.length === 0 ? (
        <p>
          Mark the runs to repeat in the <Link href="/runs">list of runs</Link>.
        </p>
      ) : (
        <form className="form" onSubmit={(event) => void submit(event)}>
          <p>
            {formatCount(sources.length)} {sources.length === 1 ? "run is" : "runs are"} repeated with the same input,
            each in a session of its own. Their tools work again, and what they do costs again.
          </p>
          <div className="field">
            <label htmlFor={`${id}model`}>Model</label>
            <input
              id={`${id}model`}
              className="input"
              list={`${id}models`}
              value={model}
              placeholder="the model of each run"
              autoComplete="off"
              spellCheck={false}
              onInput={(event) => setModel(event.currentTarget.value)}
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
            <label htmlFor={`${id}prompt`}>System prompt</label>
            <textarea
              id={`${id}prompt`}
              className="input"
              rows={6}
              value={systemPrompt}
              placeholder="the system prompt of each run"
              aria-describedby={`${id}problem`}
              aria-invalid={problem !== undefined}
              onInput={(event) => setSystemPrompt(event.currentTarget.value)}
            />
          </div>
          {problem !== undefined && (
            <p id={`${id}problem`} className="problem" role="alert">
              {problem}
            </p>
          )}
          {error !== undefined && <Failure error={error} />}
          <div className="actions">
            <button type="submit" className="button primary" disabled={isBusy || problem !== undefined}>
              Repeat {formatCount(sources.length)} {sources.length === 1 ? "run" : "runs"}
            </button>
          </div>
        </form>
      )}
    </div>
  );
}

function problemOf(count: number, systemPrompt: string): string | undefined {
  if (count > runsMax) {
    return `An evaluation has at most ${runsMax} runs: mark fewer.`;
  }
  const bytes = new TextEncoder().encode(systemPrompt).length;
  return bytes > promptBytesMax
    ? `The system prompt has ${formatCount(bytes)} bytes, and an evaluation keeps at most ${formatCount(promptBytesMax)}.`
    : undefined;
}
