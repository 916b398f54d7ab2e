// Loaded into each process of a test run: appends the requests that the service signs to a file, if the run asks for it.

import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";

const { TEST_SIGNED_FILE: file = "" } = process.env;
if (file !== "") {
  subscribe("runnel:request.signed", (request) => appendFileSync(file, `${JSON.stringify(request)}\n`));
}
