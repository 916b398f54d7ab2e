// Reads the front matter of a SKILL.md, as the Agent Skills specification (agentskills.io/specification) defines it. Pure.

import { parseDocument } from "yaml";
import { isObject } from "../../platform/base/json/parse-object.ts";

/** What a SKILL.md says of its skill. */
export interface SkillHead {
  readonly name: string;
  /** One line: white space is one space. */
  readonly description: string;
}

/** Longer front matter is not what the format is for. */
const headBytesMax = 16_384;
const nameCharsMax = 64;
const descriptionCharsMax = 1_024;
const compatibilityCharsMax = 500;

/** Returns whether a text can be the name of a skill. */
export function isSkillName(name: string): boolean {
  return name.length <= nameCharsMax && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name);
}

/** Splits a text into its front matter, which is between two lines of `---`, and the rest. Returns undefined without front matter. */
export function splitFrontMatter(text: string): { readonly yaml: string; readonly body: string } | undefined {
  const [head = "", yaml] = /^---[ \t]*\r?\n((?:[\s\S]*?\n)?)---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  return yaml === undefined ? undefined : { yaml, body: text.slice(head.length) };
}

/** Returns the front matter of a skill in the folder `folder`, or its first problem: which field is wrong, and how it has to be. */
export function readFrontMatter(text: string, folder: string): SkillHead | { readonly problem: string } {
  const { yaml } = splitFrontMatter(text) ?? {};
  if (yaml === undefined) {
    return { problem: "it does not begin with front matter between two lines of ---" };
  }
  const bytes = Buffer.byteLength(yaml);
  if (bytes > headBytesMax) {
    return { problem: `its front matter has ${bytes} bytes, maximum ${headBytesMax}` };
  }
  const fields = parse(yaml);
  if (!isObject(fields)) {
    return { problem: "its front matter is not a valid YAML mapping without aliases, each key once" };
  }
  const { name, description, license, compatibility, metadata, "allowed-tools": tools } = fields;
  if (name !== folder) {
    return { problem: `name must be ${JSON.stringify(folder)}, the name of its folder` };
  }
  const words = typeof description === "string" ? description.replace(/\s+/g, " ").trim() : "";
  if (words === "" || [...words].length > descriptionCharsMax) {
    return { problem: `description must be a text of 1 to ${descriptionCharsMax} characters` };
  }
  // Joiners are part of the writing of some languages, and of emoji.
  if (!words.isWellFormed() || /[\p{Cc}\p{Cf}\p{Co}]/u.test(words.replaceAll(/[\u200c\u200d]/g, ""))) {
    return { problem: "description contains a control character or an invisible one: remove it" };
  }
  if (!isTextOrUnset(license)) {
    return { problem: "license must be a text" };
  }
  if (!isTextOrUnset(compatibility) || (compatibility ?? "").length > compatibilityCharsMax) {
    return { problem: `compatibility must be a text of at most ${compatibilityCharsMax} characters` };
  }
  if (metadata !== undefined && metadata !== null && !(isObject(metadata) && Object.values(metadata).every(isScalar))) {
    return { problem: "metadata must be a mapping of texts" };
  }
  // Nothing is granted by it: the agent has its own tools.
  if (!isTextOrUnset(tools) && !(Array.isArray(tools) && tools.every(isScalar))) {
    return { problem: "allowed-tools must be a text with names separated by spaces" };
  }
  return { name: folder, description: words };
}

/** Returns undefined for invalid YAML. Deep nesting can exhaust the stack of the parser, which is then invalid too. */
function parse(yaml: string): unknown {
  try {
    const document = parseDocument(yaml, { logLevel: "silent", uniqueKeys: true, stringKeys: true });
    return document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: 0 });
  } catch {
    return undefined;
  }
}

function isTextOrUnset(value: unknown): value is string | null | undefined {
  return value === undefined || value === null || typeof value === "string";
}

function isScalar(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}
