// Signatures: why a JobSpec would be refused, and how a request is signed. What a person types stays in this page.

import { useSearchParams } from "wouter";
import { JobSpecPane } from "./job-spec-pane.tsx";
import { RequestPane } from "./request-pane.tsx";

const tabs = { jobspec: "JobSpec", request: "Request" } as const;

type Tab = keyof typeof tabs;

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function SignaturesView() {
  const [parameters, setParameters] = useSearchParams();
  const tab: Tab = parameters.get("tab") === "request" ? "request" : "jobspec";
  const show = (next: Tab): void => setParameters({ tab: next }, { replace: true });
  return (
    <div className="view sheet">
      <header className="view-head">
        <h1>Signatures</h1>
      </header>
      <div className="tabs" role="tablist" aria-label="What is signed">
        {(Object.keys(tabs) as Tab[]).map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            aria-selected={each === tab}
            aria-controls="tab-panel"
            tabIndex={each === tab ? 0 : -1}
            onClick={() => show(each)}
            onKeyDown={({ key }) => {
              if (key === "ArrowRight" || key === "ArrowLeft") {
                const next = each === "jobspec" ? "request" : "jobspec";
                show(next);
                document.getElementById(`tab-${next}`)?.focus();
              }
            }}
          >
            {tabs[each]}
          </button>
        ))}
      </div>
      <div className="form" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`}>
        {tab === "jobspec" ? <JobSpecPane /> : <RequestPane />}
      </div>
    </div>
  );
}
