// Prints the table of docs/models.md: what each provider takes. It is made of what the code declares; `test/models/capabilities`
// sends each capability to each provider and compares what reaches the wire.

import { AgentSchema } from "../gen/runnel/v1/session_pb.js";
import { mediaTypesOf } from "../src/agent/models/catalogue.ts";
import { kindOf } from "../src/agent/models/media/media-type.ts";
import type { MediaKind } from "../src/agent/models/model.ts";
import { apis, hints } from "../src/agent/models/providers.ts";
import { agentSettings } from "../src/agent/response/settings.ts";

export const modelsPagePath = "docs/models.md";
const beginning = "<!-- capabilities: written by `npm run generate` -->";
const end = "<!-- /capabilities -->";

/** Returns the page with the table as the code declares it. */
export function fillModelsPage(page: string): string {
  const [start, stop] = [page.indexOf(beginning), page.indexOf(end)];
  if (start === -1 || stop < start) {
    throw new Error(`${modelsPagePath} lacks the line ${beginning}, or the line ${end} below it`);
  }
  return `${page.slice(0, start)}${beginning}\n\n${printTable()}\n\n${page.slice(stop)}`;
}

function printTable(): string {
  const heads = apis.map(({ title }) => title);
  const rows = [
    ...everywhere.map((name) => [name, ...heads.map(() => yes)]),
    ["`tools.provider`", ...apis.map(({ lacksProviderTools = false }) => (lacksProviderTools ? "not sent" : yes))],
    ...(["image", "audio", "file"] as const).map((kind) => [
      kind,
      ...apis.map(({ provider }) => readsOf(provider, kind)),
    ]),
    ...agentSettings.map((name) => [
      `\`${AgentSchema.field[name].name}\``,
      ...apis.map(({ settings }) => (settings.has(name) ? yes : hints.has(name) ? "not sent" : "refused")),
    ]),
  ];
  return [["", ...heads], ["---", ...heads.map(() => "---")], ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

const yes = "yes";

/** What every provider takes. Whether a model can do it is up to the model. */
const everywhere = ["text, tools", "`response_format`", "`reasoning_effort`", "`provider_options`"];

function readsOf(provider: string, kind: MediaKind): string {
  const types = mediaTypesOf({ provider, name: kind === "audio" && provider === "openai" ? "gpt-audio" : "" });
  const read = types
    .filter((type) => kindOf(type) === kind)
    .map((type) => type.replace(/^(?:image|audio|application)\//, ""));
  return read.join(", ") || "a note";
}
