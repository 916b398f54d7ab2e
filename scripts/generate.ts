// `npm run generate`: writes gen/, the contracts of clients/python and clients/rust and the stubs of clients/go from the protos, and
// the pages of docs/reference. Works offline, except that Go fetches its generators once.

import { writeGoStubs } from "./go-stubs.ts";
import { writePythonContract } from "./python-contract.ts";
import { runCommand } from "./run-command.ts";
import { writeRustContract } from "./rust-contract.ts";

await runCommand("buf", ["generate"]);
await writePythonContract();
await writeRustContract();
const remark = await writeGoStubs();
if (remark !== undefined) {
  console.error(`the stubs of clients/go are ${remark}; to have it: https://go.dev/dl/`);
}
// Loaded only here: the settings come with code that needs the generated files.
const { writeReferencePages } = await import("./reference-pages.ts");
await writeReferencePages();
