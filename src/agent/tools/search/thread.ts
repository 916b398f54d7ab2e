// A search thread. It handles one request at a time; the caller stops a search by ending the thread.

import { parentPort } from "node:worker_threads";
import { findFiles } from "./find-files.ts";
import { findLines } from "./find-lines.ts";
import { listFiles } from "./list-files.ts";
import type { SearchOutcome, SearchRequest } from "./request.ts";

parentPort?.on("message", (request: SearchRequest) => {
  parentPort?.postMessage(search(request));
});

function search(request: SearchRequest): SearchOutcome {
  switch (request.kind) {
    case "files":
      return findFiles(request);
    case "lines":
      return findLines(request);
    case "listing":
      return listFiles(request);
    default:
      return request satisfies never;
  }
}
