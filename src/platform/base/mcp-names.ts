// The names that a model sees for the tools of MCP servers. MCP permits 128 characters, dots and slashes; providers do not. Pure.

import { createHash } from "node:crypto";

/** The shortest of the providers' maximums: OpenAI and Anthropic accept 64 characters. */
const nameCharsMax = 64;
const digestChars = 8;

/**
 * Returns the name: `files_read_file` for `read.file` with the prefix `files_`. A long name ends with a digest of the whole, and so does one in
 * another script, of which nothing else remains.
 */
export function serverToolNameOf(prefix: string, tool: string): string {
  const name = `${prefix}${tool}`.replace(/[^A-Za-z0-9_-]/g, "_");
  // Gemini accepts no other first character.
  const started = /^[A-Za-z_]/.test(name) ? name : `_${name}`;
  if (started.length <= nameCharsMax && !/[^\x20-\x7e]/.test(tool)) {
    return started;
  }
  const digest = createHash("sha256").update(`${prefix}${tool}`).digest("hex").slice(0, digestChars);
  return `${started.slice(0, nameCharsMax - digestChars - 1)}_${digest}`;
}
