// Signatures: why a JobSpec would be refused, and how a request is signed. What a person types stays in this page.

import { useSearchParams } from "wouter";
import { Tabs } from "../ui/tabs.tsx";
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
      <Tabs label="What is signed" tabs={tabs} chosen={tab} onChoose={show} panelClass="form">
        {tab === "jobspec" ? <JobSpecPane /> : <RequestPane />}
      </Tabs>
    </div>
  );
}
