// `npm run generate`: writes third_party/ from npm packages, gen/ and the contract of clients/python from the protos, and the
// pages of docs/reference. Works offline.

import { writePythonContract } from "./python-contract.ts";
import { runCommand } from "./run-command.ts";
import { fillThirdParty } from "./third-party.ts";

await fillThirdParty();
await runCommand("buf", ["generate"]);
await writePythonContract();
// Loaded only here: the settings come with code that needs the generated files.
const { writeReferencePages } = await import("./reference-pages.ts");
await writeReferencePages();
