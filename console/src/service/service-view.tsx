// The service for its operator: its health, its settings, and the API keys of its clients.

import { AdminGate } from "../frame/admin-gate.tsx";
import { useParameter } from "../lib/parameters.ts";
import { Tabs } from "../ui/tabs.tsx";
import { Health } from "./health.tsx";
import { KeysPane } from "./keys-pane.tsx";
import { SettingsPane } from "./settings-pane.tsx";

const tabs = { settings: "Settings", keys: "API keys" } as const;

type Tab = keyof typeof tabs;

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function ServiceView() {
  const [asked, show] = useParameter("tab");
  const tab: Tab = asked === "keys" ? "keys" : "settings";
  return (
    <div className="view sheet">
      <header className="view-head">
        <h1>Service</h1>
      </header>
      <Health />
      <Tabs label="What to show" tabs={tabs} chosen={tab} onChoose={show} panelClass="service-pane">
        <AdminGate what={tab === "settings" ? "The settings" : "The API keys"}>
          {tab === "settings" ? <SettingsPane /> : <KeysPane />}
        </AdminGate>
      </Tabs>
    </div>
  );
}
