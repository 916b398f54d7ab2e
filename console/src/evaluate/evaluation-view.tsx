// One evaluation: each run beside its repetition, with what a person thinks of it. The page starts what has not been started.

import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { download } from "../lib/download.ts";
import { eachOfFew } from "../lib/few.ts";
import { formatCount } from "../lib/format.ts";
import { setTitle } from "../lib/title.ts";
import { visibleText } from "../lib/visible-text.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { Fact } from "../ui/fact.tsx";
import { Icon } from "../ui/icon.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { TableHead } from "../ui/table-head.tsx";
import { showToast } from "../ui/toasts.tsx";
import { EvaluationRow, type Outcome } from "./evaluation-row.tsx";
import { exportEvaluation } from "./export.ts";
import { type Plan, readPlan } from "./plan.ts";
import { keepVerdict, repeat, type Verdict } from "./repeat.ts";

const columns = ["Input", "Original", "Repetition", "State", "Tokens", "Cost", "Duration", "Compare", "Mark", "Note"];

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function EvaluationView({ params }: { readonly params: Readonly<Record<string, string | undefined>> }) {
  const id = params.evaluationId ?? "";
  const { data, error, refetch } = useQuery({
    queryKey: ["evaluation", id],
    queryFn: ({ signal }) => readPlan(id, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => setTitle("Evaluation"), []);
  if (error !== null) {
    return <Failure error={error} onRetry={() => void refetch()} />;
  }
  return data === undefined ? <Loading what="the evaluation" /> : <Evaluation key={id} plan={data} />;
}

function Evaluation({ plan }: { readonly plan: Plan }) {
  const { outcomes, start, judge } = useOutcomes(plan);
  const started = [...outcomes.values()].flatMap((outcome) => ("runId" in outcome ? [outcome] : []));
  const count = (mark: Verdict["mark"]): string =>
    formatCount(started.filter(({ verdict }) => verdict.mark === mark).length);
  const save = async (): Promise<void> => {
    try {
      const text = await exportEvaluation(plan, outcomes);
      download(`evaluation-${plan.id}.json`, text, "application/json");
    } catch (failure) {
      showToast({ tone: "bad", text: `The evaluation was not exported: ${String(failure)}` });
    }
  };
  return (
    <div className="view evaluation">
      <header className="view-head">
        <h1>Evaluation</h1>
        <div className="spacer" />
        <button type="button" className="button" onClick={() => void save()}>
          <Icon name="download" />
          Export JSON
        </button>
      </header>
      <dl className="facts">
        <Fact name="model">{plan.model === "" ? "that of each run" : visibleText(plan.model)}</Fact>
        <Fact name="system prompt">{plan.systemPrompt === "" ? "that of each run" : "another one"}</Fact>
        <Fact name="started">
          {formatCount(started.length)} of {formatCount(plan.sources.length)}
        </Fact>
        <Fact name="good">{count("good")}</Fact>
        <Fact name="same">{count("same")}</Fact>
        <Fact name="worse">{count("worse")}</Fact>
        <Fact name="unmarked">{count("")}</Fact>
      </dl>
      {plan.systemPrompt !== "" && (
        <details className="fold">
          <summary>
            <Icon name="chevron" />
            System prompt
          </summary>
          <CodeBlock label="system prompt" text={plan.systemPrompt} />
        </details>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <div className="scroll" role="group" aria-label="Runs and their repetitions" tabIndex={0}>
        <table className="numbers words evaluated" aria-label="Runs and their repetitions">
          <TableHead names={columns} />
          <tbody>
            {plan.sources.map((source, index) => (
              <EvaluationRow
                key={source}
                source={source}
                outcome={outcomes.get(index)}
                onStart={() => void start(index)}
                onJudge={(verdict) => void judge(index, verdict)}
              />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** What has become of the runs of a plan, by their index. A run that is not in the map is about to be started. */
function useOutcomes(plan: Plan) {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<number, Outcome>>(new Map());
  const set = useCallback(
    (index: number, outcome: Outcome | undefined): void =>
      setOutcomes((current) => {
        const next = new Map(current);
        if (outcome === undefined) {
          next.delete(index);
        } else {
          next.set(index, outcome);
        }
        return next;
      }),
    [],
  );
  const start = useCallback(
    async (index: number): Promise<void> => {
      set(index, undefined);
      try {
        set(index, await repeat(plan, index));
      } catch (error) {
        set(index, { error });
      }
    },
    [plan, set],
  );
  const indexes = useMemo(() => plan.sources.map((_, index) => index), [plan]);
  useEffect(() => {
    let isLeft = false;
    void eachOfFew(indexes, async (index) => {
      if (!isLeft) {
        await start(index);
      }
    });
    return () => {
      isLeft = true;
    };
  }, [indexes, start]);
  const judge = async (index: number, verdict: Verdict): Promise<void> => {
    const before = outcomes.get(index);
    if (before === undefined || !("runId" in before)) {
      return;
    }
    set(index, { ...before, verdict });
    try {
      await keepVerdict(plan, index, verdict);
    } catch (failure) {
      set(index, before);
      showToast({ tone: "bad", text: `The mark was not kept: ${String(failure)}` });
    }
  };
  return { outcomes, start, judge };
}
