// Prints the tables of docs/models.md: which names select a provider, and what each provider takes. They are made of what the code
// declares; `test/models/capabilities` sends each capability to each provider and compares what reaches the wire.

import { AgentSchema } from "../gen/runnel/v1/session_pb.js";
import { mediaTypesOf } from "../src/agent/models/catalogue.ts";
import { apis, hasService, hints, type Provider, providers } from "../src/agent/models/providers.ts";
import { agentSettings } from "../src/agent/response/settings.ts";
import { kindOf, type MediaKind } from "../src/platform/base/media-type.ts";
import { keys } from "../src/platform/config/keys.ts";

export const modelsPagePath = "docs/models.md";

/** Returns the page with the tables as the code declares them. */
export function fillModelsPage(page: string): string {
  return fill(fill(page, "names", printNames()), "capabilities", printCapabilities());
}

function fill(page: string, name: string, table: string): string {
  const beginning = `<!-- ${name}: written by \`npm run generate\` -->`;
  const end = `<!-- /${name} -->`;
  const [start, stop] = [page.indexOf(beginning), page.indexOf(end)];
  if (start === -1 || stop < start) {
    throw new Error(`${modelsPagePath} lacks the line ${beginning}, or the line ${end} below it`);
  }
  return `${page.slice(0, start)}${beginning}\n\n${table}\n\n${page.slice(stop)}`;
}

function printNames(): string {
  const rows = providers.map((provider) => [namesOf(provider), provider.title, needsOf(provider)]);
  return printTable([["name", "provider", "needs"], ...rows, ["`demo`", "none: fixed rules, real tools", "nothing"]]);
}

function namesOf({ name, names = [], prefixes }: Provider): string {
  return [...prefixes.map((prefix) => `${prefix}…`), ...names, `${name}:<any>`].map((text) => `\`${text}\``).join(", ");
}

function needsOf(provider: Provider): string {
  const [key, baseUrl] = [provider.key, provider.baseUrl].map((setting) => `\`${keys[setting].variables[0]}\``);
  return hasService(provider) ? `${key}, or your own base URL` : `${baseUrl}, and a key if the server requires one`;
}

function printCapabilities(): string {
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
  return printTable([["", ...heads], ...rows]);
}

function printTable([heads = [], ...rows]: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
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
