// `npm run generate`: writes gen/ and the contract of clients/python from the protos, and the pages of docs/reference. Works
// offline.

import { writePythonContract } from "./python-contract.ts";
import { runCommand } from "./run-command.ts";

await runCommand("buf", ["generate"]);
await writePythonContract();
// Loaded only here: the settings come with code that needs the generated files.
const { writeReferencePages } = await import("./reference-pages.ts");
await writeReferencePages();
