// Trust keys and their audit, for the operator: everything here needs the admin token.

import { createClient } from "@connectrpc/connect";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { TrustService } from "#gen/runnel/job/v1/trust_service_pb.js";
import { adminToken } from "../api/access.ts";
import { adminTransport } from "../api/transport.ts";
import { AdminGate } from "../frame/admin-gate.tsx";
import { useStore } from "../lib/store.ts";
import { Icon } from "../ui/icon.tsx";
import { Question } from "../ui/question.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { showToast } from "../ui/toasts.tsx";
import { TrustEvents } from "./trust-events.tsx";
import { TrustKeys } from "./trust-keys.tsx";

const trust = createClient(TrustService, adminTransport);
const tabs = { keys: "Keys", events: "Events" } as const;

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function KeysView() {
  const token = useStore(adminToken);
  const [parameters, setParameters] = useSearchParams();
  const tab = parameters.get("tab") === "events" ? "events" : "keys";
  const [opened, setOpened] = useState<"add" | "rotate" | undefined>(undefined);
  const close = (): void => setOpened(undefined);
  const show = (next: keyof typeof tabs): void => setParameters(next === "keys" ? {} : { tab: next });
  const rotate = async (): Promise<void> => {
    const { key } = await trust.rotateReceiptKey({});
    showToast({ tone: "good", text: `The service signs receipts with ${key?.kid ?? "a new key"} now.` });
  };
  return (
    <div className="view keys-view">
      <header className="view-head">
        <h1>
          <Link href="/jobs" className="crumb">
            Jobs
          </Link>
          Trust keys
        </h1>
        <div className="spacer" />
        {token !== undefined && (
          <div className="actions">
            <button type="button" className="button" onClick={() => setOpened("rotate")}>
              <Icon name="again" />
              Rotate the receipt key
            </button>
            <button
              type="button"
              className="button primary"
              onClick={() => {
                show("keys");
                setOpened("add");
              }}
            >
              <Icon name="plus" />
              Add a key
            </button>
          </div>
        )}
      </header>
      {token === undefined ? (
        <AdminGate what="Trust keys" />
      ) : (
        <Tabs label="What to show" tabs={tabs} chosen={tab} onChoose={show} panelClass="tab-panel trust-panel">
          {tab === "keys" ? (
            <TrustKeys key={token} isAdding={opened === "add"} onAdded={close} />
          ) : (
            <TrustEvents key={token} />
          )}
        </Tabs>
      )}
      {opened === "rotate" && (
        <Question title="Rotate the receipt key" yes="Rotate the key" no="Keep it" onYes={rotate} onClose={close}>
          <p>The service signs receipts with a new key from now on.</p>
          <p className="hint">The earlier keys stay published, so receipts that they have signed stay valid.</p>
        </Question>
      )}
    </div>
  );
}
