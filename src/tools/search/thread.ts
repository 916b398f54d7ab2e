// A thread that searches. One request at a time; a search that has to stop is stopped by ending the thread.

import { parentPort } from "node:worker_threads";
import { findFiles } from "./find-files.ts";
import { findLines } from "./find-lines.ts";
import type { SearchOutcome, SearchRequest } from "./request.ts";

parentPort?.on("message", (request: SearchRequest) => {
  parentPort?.postMessage(search(request));
});

function search(request: SearchRequest): SearchOutcome {
  return request.kind === "files" ? findFiles(request) : findLines(request);
}
