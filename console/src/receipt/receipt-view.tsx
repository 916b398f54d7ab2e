// The receipt of a run: fetched, checked in the page, shown and downloaded.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { download } from "../lib/download.ts";
import { shortId } from "../lib/format.ts";
import { CheckList } from "../ui/check-list.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { Icon } from "../ui/icon.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { showToast } from "../ui/toasts.tsx";
import { checkReceipt, checkRun, type ReceiptReport } from "./check-receipt.ts";

interface Chosen {
  readonly name: string;
  readonly jws: string;
}

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function ReceiptView({ params }: { readonly params: Readonly<Record<string, string | undefined>> }) {
  const runId = params.runId ?? "";
  const [chosen, setChosen] = useState<Chosen | undefined>(undefined);
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ["receipt", runId, chosen?.jws],
    queryFn: ({ signal }) => (chosen === undefined ? checkRun(runId, signal) : checkReceipt(runId, chosen.jws, signal)),
    // A check is about the log of today.
    staleTime: 0,
    retry: false,
  });
  return (
    <div className="view sheet">
      <header className="view-head">
        <h1>
          <Link href={`/runs/${runId}`} className="crumb">
            Run <span className="mono">{shortId(runId)}</span>
          </Link>
          Receipt
        </h1>
        <div className="spacer" />
        <div className="actions">
          <button type="button" className="button" disabled={isFetching} onClick={() => void refetch()}>
            <Icon name="again" />
            Check again
          </button>
          <button
            type="button"
            className="button primary"
            disabled={data === undefined}
            onClick={() => data && save(runId, data)}
          >
            <Icon name="download" />
            Download
          </button>
        </div>
      </header>
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading what="the receipt and the log" />}
      {error === null && data !== undefined && <Report report={data} file={chosen?.name} />}
      <section className="panel">
        <h2>A receipt that you have kept</h2>
        <label className="field">
          <span className="hint">Choose its file, to check it against the log that the service has now</span>
          <input
            type="file"
            className="input"
            accept=".json,application/json"
            onChange={(event) => void choose(event.currentTarget.files?.[0], setChosen)}
          />
        </label>
        <p className="hint">
          This page trusts the keys that the service publishes. To need no trust in the service, keep a copy of its keys
          and run <code>runnel verify receipt.json log.jsonl --jwks jwks.json</code>.
        </p>
      </section>
    </div>
  );
}

function Report({
  report: { checks, statement },
  file,
}: {
  readonly report: ReceiptReport;
  readonly file?: string | undefined;
}) {
  const isGood = checks.every(({ verdict }) => verdict === "good");
  return (
    <>
      <section className="panel" aria-live="polite">
        <h2>
          {isGood ? "The log is the one that was signed" : "The receipt and the log do not fit"}
          {file !== undefined && ` (${file})`}
        </h2>
        <CheckList label="Checks of the receipt" checks={checks} />
      </section>
      {statement !== undefined && (
        <CodeBlock
          label={
            checks[0]?.verdict === "good" ? "the signed statement" : "the statement, which no valid signature covers"
          }
          text={JSON.stringify(statement, null, 2)}
        />
      )}
    </>
  );
}

async function choose(file: File | undefined, onChosen: (chosen: Chosen) => void): Promise<void> {
  if (file === undefined) {
    return;
  }
  try {
    const { jws } = JSON.parse(await file.text()) as { readonly jws?: unknown };
    if (typeof jws !== "string") {
      throw new TypeError("no member jws");
    }
    onChosen({ name: file.name, jws });
  } catch {
    showToast({ tone: "bad", text: `${file.name} is not a receipt: choose the file that Download has made.` });
  }
}

/** The file is the one that `runnel receipt` writes. */
function save(runId: string, { jws, statement }: ReceiptReport): void {
  download(`receipt-${runId}.json`, `${JSON.stringify({ jws, statement }, null, 2)}\n`, "application/json");
}
