// `npm run generate`: third_party/ from npm packages, then gen/ from the protos. Works offline.

import { runCommand } from "./run-command.ts";
import { fillThirdParty } from "./third-party.ts";

await fillThirdParty();
await runCommand("buf", ["generate"]);
