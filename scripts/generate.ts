// `npm run generate`: third_party/ from npm packages, gen/ from the protos, and what is written of the settings from their
// table. Works offline.

import { runCommand } from "./run-command.ts";
import { writeSettings } from "./settings.ts";
import { fillThirdParty } from "./third-party.ts";

await fillThirdParty();
await runCommand("buf", ["generate"]);
await writeSettings();
