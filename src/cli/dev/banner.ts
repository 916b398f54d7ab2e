// What `dev` prints when it serves: where, for whom, and lines to paste.

import type { App } from "../../app/app.ts";
import type { Config } from "../../platform/config/keys.ts";
import { shellWord } from "../shell-word.ts";
import { lineFor } from "../target.ts";

/** Returns the URL of a service. */
export function urlOf({ host, port }: App): string {
  return `http://${host}:${port}`;
}

/** Returns the lines. */
export function banner(app: App, config: Config, hasProvider: boolean): string {
  const url = urlOf(app);
  const hint = hasProvider ? "" : " (set RUNNEL_PROVIDERS_OPENAI_KEY or another key for a real one)";
  const session = { agent: { name: "try", tools: { builtin: ["list_dir", "read_file"] } } };
  return [
    "",
    `Runnel is ready on ${url}`,
    "",
    "  serves   gRPC, gRPC-Web, Connect, REST and SSE; REST is described in /openapi.json",
    `  callers  ${app.asksForCredentials ? "need credentials" : "on this machine need no credentials"}`,
    `  model    ${app.defaultModel}${hint}`,
    `  files    ${app.usualWorkDir ?? "each session has a directory of its own"}`,
    `  bash     ${app.bash}`,
    `  data     ${app.databaseDirectory ?? "the database of DATABASE_URL"}`,
    ...(config.consoleEnabled ? [`  console  ${url}/console`] : []),
    "  stop     Ctrl-C",
    "",
    `Paste this into another terminal${app.asksForCredentials ? ", with credentials added" : ""}:`,
    "",
    `  ${lineFor({ url }, `${programName(process.env)} run ${shellWord(firstMessage)}`)}`,
    "",
    "or, without the command line:",
    "",
    // The service makes a new id each time, so the lines may be pasted again.
    `  id=$(curl -s ${url}/v1/sessions -d ${shellWord(JSON.stringify(session))} | ${readSessionId}) ; \\`,
    `  curl -s ${url}/v1/sessions/$id/messages -d ${shellWord(JSON.stringify({ message: firstMessage }))} ; \\`,
    `  curl -sN ${url}/v1/sessions/$id/stream`,
    "",
  ].join("\n");
}

/** Works in an empty directory too. */
const firstMessage = "Which files are here?";

/** Works in every POSIX shell, without a program that reads JSON. */
const readSessionId = String.raw`sed 's/.*"session_id":"\([^"]*\)".*/\1/'`;

/** Returns how this program was started: by npx, by a script of a checkout, or by its name. */
function programName({ npm_command: npm, npm_lifecycle_event: script }: NodeJS.ProcessEnv): string {
  return npm === "exec" ? "npx runnel" : script === undefined ? "runnel" : "npm run -s runnel --";
}
