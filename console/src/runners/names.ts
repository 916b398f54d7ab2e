// Names and addresses of runners and bindings.

import { readJson } from "../lib/free-json.ts";

/** The parts of `plugin:author/name/runner`, as calls of the contract take them. */
export interface RunnerIdParts {
  readonly author: string;
  readonly name: string;
  readonly runner: string;
}

/** Returns undefined for a text of another form. */
export function readRunnerId(text: string): RunnerIdParts | undefined {
  const [, author, name, runner] = /^plugin:([^/]+)\/([^/]+)\/([^/]+)$/.exec(text) ?? [];
  return author === undefined || name === undefined || runner === undefined ? undefined : { author, name, runner };
}

export function bindingPath(bindingId: string, choice: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(choice).toString();
  return `/runners/bindings/${encodeURIComponent(bindingId)}${query === "" ? "" : `?${query}`}`;
}

/** Returns a text by its locale: the English one, or else the first. Example: `{"en_US":"Helper"}` gives `Helper`. */
export function localText(json: string | undefined): string {
  const texts = Object.entries(Object(readJson(json))).flatMap(([locale, text]) =>
    typeof text === "string" ? [[locale, text] as const] : [],
  );
  return (texts.find(([locale]) => locale.startsWith("en")) ?? texts[0])?.[1] ?? "";
}
