// Saves a run as a file: the same files as `runnel runs export` writes.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import type { GetRunInputResponse } from "#gen/runnel/v1/run_service_pb.js";
import { type ExportFormat, exportFormats, exportRun } from "../../../src/platform/run-view/export.ts";
import { download } from "../lib/download.ts";
import { failureText } from "../lib/failure-text.ts";
import { formatCount } from "../lib/format.ts";
import type { RunLog } from "../run/run-log.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { showToast } from "../ui/toasts.tsx";

const names = {
  md: ["Markdown", "texts, tool calls and numbers"],
  html: ["HTML page", "the same as a page without scripts, with the images of the input"],
  json: ["JSON", "the run, its input and every entry of its log"],
} as const satisfies Record<ExportFormat, readonly [string, string]>;

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function ExportDialog({
  run,
  input,
  log,
  onClose,
}: {
  readonly run: Run;
  readonly input: GetRunInputResponse;
  readonly log: RunLog;
  readonly onClose: () => void;
}) {
  const save = async (format: ExportFormat): Promise<void> => {
    const { messages, agent } = input;
    try {
      const entries: RunResult[] = [];
      for await (const results of log.entries.after(0)) {
        entries.push(...results);
      }
      const { name, text, type } = exportRun(format, { run, messages, agent, entries });
      download(name, text, type);
      onClose();
    } catch (failure) {
      showToast({ tone: "bad", text: `The run could not be exported: ${failureText(failure)}` });
    }
  };
  return (
    <Dialog title="Export this run" onClose={onClose}>
      {!log.hasEnded && (
        <p className="hint">
          The run goes on: the file has the {formatCount(log.cursor)} entries that are here by now.
        </p>
      )}
      <dl className="export">
        {exportFormats.map((format) => (
          <div key={format}>
            <dt>
              <button type="button" className="button" onClick={() => void save(format)}>
                <Icon name="download" />
                {names[format][0]}
              </button>
            </dt>
            <dd>{names[format][1]}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
