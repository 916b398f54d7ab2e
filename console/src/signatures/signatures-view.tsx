// Signatures: what would be refused and why, and how a request is signed. What a person types stays in this page.

import { useSearchParams } from "wouter";
import { Tabs } from "../ui/tabs.tsx";
import { panes } from "./panes.ts";

const tabs = Object.fromEntries(panes.map(({ tab, title }) => [tab, title]));

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function SignaturesView() {
  const [parameters, setParameters] = useSearchParams();
  const shown = panes.find(({ tab }) => tab === parameters.get("tab")) ?? panes[0];
  const show = (next: string): void => setParameters({ tab: next }, { replace: true });
  return (
    <div className="view sheet">
      <header className="view-head">
        <h1>Signatures</h1>
      </header>
      <Tabs label="What is signed" tabs={tabs} chosen={shown?.tab ?? ""} onChoose={show} panelClass="form">
        {shown !== undefined && <shown.component />}
      </Tabs>
    </div>
  );
}
