// `npm run generate`: third_party/ from npm packages, gen/ and the contract of clients/python from the protos, and what is
// written of the settings from their table. Works offline.

import { writePythonContract } from "./python-contract.ts";
import { runCommand } from "./run-command.ts";
import { fillThirdParty } from "./third-party.ts";

await fillThirdParty();
await runCommand("buf", ["generate"]);
await writePythonContract();
// Loaded only here: the settings come with code that needs what was generated above.
const { writeSettings } = await import("./settings.ts");
await writeSettings();
