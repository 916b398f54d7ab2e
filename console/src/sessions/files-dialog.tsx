// The files in the work directory of a session: one directory at a time, each file to save. Nothing of a file is shown in the page.

import { createClient } from "@connectrpc/connect";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type File, File_Type } from "#gen/runnel/v1/file_pb.js";
import { FileService } from "#gen/runnel/v1/file_service_pb.js";
import { transport } from "../api/transport.ts";
import { download } from "../lib/download.ts";
import { failureText } from "../lib/failure-text.ts";
import { formatBytes } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Dialog } from "../ui/dialog.tsx";
import { More } from "../ui/more.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { showToast } from "../ui/toasts.tsx";

const service = createClient(FileService, transport);
/** The page has a file in its memory while it is saved. */
const savedMaxBytes = 200_000_000;

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function FilesDialog({
  sessionId,
  path,
  onPath,
  onClose,
}: {
  readonly sessionId: string;
  /** Of the directory; `.` is the work directory. */
  readonly path: string;
  readonly onPath: (path: string) => void;
  readonly onClose: () => void;
}) {
  const list = useInfiniteQuery(
    FileService.method.listFiles,
    { sessionId, path, pageSize: 100, pageToken: "" },
    { ...inPages, staleTime: 0 },
  );
  const files = list.data?.pages.flatMap((page) => page.files);
  const above = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
  return (
    <Dialog title={path === "." ? "Files" : `Files in ${visibleText(path)}`} onClose={onClose}>
      {path !== "." && (
        <div className="actions">
          <button type="button" className="button" onClick={() => onPath(above)}>
            Up
          </button>
        </div>
      )}
      {list.error !== null && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {files === undefined && list.error === null && <Loading what="the files" />}
      {files?.length === 0 && <p className="hint">This directory is empty.</p>}
      <ul className="files" aria-label="Files">
        {files?.map((file) => (
          <li key={file.path}>
            <Entry sessionId={sessionId} file={file} onPath={onPath} />
          </li>
        ))}
      </ul>
      <More list={list}>More files</More>
    </Dialog>
  );
}

function Entry({
  sessionId,
  file: { path, type, sizeBytes },
  onPath,
}: {
  readonly sessionId: string;
  readonly file: File;
  readonly onPath: (path: string) => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const name = path.slice(path.lastIndexOf("/") + 1);
  const label = <bdi>{visibleText(name)}</bdi>;
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      download(name, new Blob(await read(sessionId, path)), "application/octet-stream");
    } catch (failure) {
      showToast({ tone: "bad", text: `${visibleText(name)} could not be read: ${failureText(failure)}` });
    }
    setBusy(false);
  };
  if (type === File_Type.DIRECTORY) {
    return (
      <button type="button" className="button quiet" onClick={() => onPath(path)}>
        {label}/
      </button>
    );
  }
  if (type === File_Type.OTHER || sizeBytes > savedMaxBytes) {
    return (
      <>
        {label} <span className="hint">{type === File_Type.OTHER ? "no file" : "too large for the page"}</span>
      </>
    );
  }
  return (
    <>
      <button type="button" className="button quiet" disabled={isBusy} onClick={() => void save()}>
        {label}
      </button>{" "}
      {type === File_Type.FILE && <span className="hint">{formatBytes(Number(sizeBytes))}</span>}
    </>
  );
}

/** Reads the pieces of a file. A link may lead to a larger file than its own size says. */
async function read(sessionId: string, path: string): Promise<Uint8Array<ArrayBuffer>[]> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const { piece } of service.readFile({ sessionId, path }, { timeoutMs: 0 })) {
    const data = new Uint8Array(piece?.data ?? []);
    bytes += data.length;
    if (bytes > savedMaxBytes) {
      throw new Error(`it has more than ${formatBytes(savedMaxBytes)}, which is too large for the page`);
    }
    pieces.push(data);
  }
  return pieces;
}
