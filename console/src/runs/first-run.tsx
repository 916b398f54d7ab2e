// What the list shows before the first run: one click to a live one, with tools that only read, and lines to paste.

import { useState } from "react";
import { Link, useLocation } from "wouter";
import { startRun } from "../api/first-message.ts";
import { serviceUrl } from "../api/transport.ts";
import { EmptyState, Failure } from "../ui/notice.tsx";

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function FirstRun() {
  const [, navigate] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const start = async (): Promise<void> => {
    setBusy(true);
    try {
      const agent = { name: "first", tools: { builtin: ["list_dir", "read_file"] } };
      const message = "Explore this directory: list its files, and read the README if there is one.";
      const runId = await startRun({ agent }, { message });
      navigate(`/runs/${runId}`);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <EmptyState title="No runs yet" lines={firstRun}>
      <p>A run appears here as soon as it begins.</p>
      {error !== undefined && <Failure error={error} />}
      <div className="actions">
        <button type="button" className="button primary" disabled={isBusy} onClick={() => void start()}>
          Start a first run
        </button>
        <Link href="/new" className="button">
          Write its message first
        </Link>
      </div>
    </EmptyState>
  );
}

const firstRun = `url=${serviceUrl}
id=$(curl -sS $url/v1/sessions -d '{"agent":{"name":"first"}}' | sed 's/.*"session_id":"\\([^"]*\\)".*/\\1/')
curl -sS $url/v1/sessions/$id/messages -d '{"message":"Say hello."}'`;
