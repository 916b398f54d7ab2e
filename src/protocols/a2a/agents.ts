// Reads the A2A agents that the operator names, one a line. Their headers are secret, so messages never quote a line.

import {
  type Fields,
  isEmpty,
  isText,
  isTextMap,
  isTexts,
  readNamedLines,
  secretWords,
} from "../../platform/config/program-address.ts";

/** An agent of the settings: a server that speaks A2A. */
export interface A2aAgent {
  readonly name: string;
  /** The URL of its card. */
  readonly cardUrl: string;
  /** They go to the origin of the card alone. Names in lower case; the values are secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Which of the server's agents; empty for that of the card. */
  readonly tenant: string;
  /** The clients whose agents may name it; undefined means all. */
  readonly clients: readonly string[] | undefined;
  /** The values that no text may show. */
  readonly secrets: readonly string[];
}

/** Returns the agents; undefined when a line is invalid. */
export function readA2aAgents(text: string): readonly A2aAgent[] | undefined {
  return readNamedLines(text, readAgent);
}

function readAgent(name: string, fields: Fields): A2aAgent | undefined {
  const { url, headers = {}, tenant = "", clients, ...others } = fields;
  const isRight =
    isText(url) &&
    URL.canParse(url) &&
    isTextMap(headers) &&
    typeof tenant === "string" &&
    (clients === undefined || isTexts(clients)) &&
    isEmpty(others);
  if (!isRight) {
    return undefined;
  }
  const named = Object.entries(headers).map(([each, value]) => [each.toLowerCase(), value]);
  return {
    ...{ name, tenant, clients },
    cardUrl: cardUrlOf(url),
    headers: Object.fromEntries(named),
    secrets: secretWords(Object.values(headers)),
  };
}

/** An address that is no JSON file is the base of the well-known path. */
function cardUrlOf(text: string): string {
  const url = new URL(text);
  if (!url.pathname.endsWith(".json")) {
    url.pathname = `${url.pathname.replace(/\/$/, "")}/.well-known/agent-card.json`;
  }
  return url.href;
}
