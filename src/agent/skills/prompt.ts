// What a model reads of the skills of its agent: their names, descriptions and places. It reads the rest on demand.

import type { KeptSkill } from "./find-skills.ts";

const introduction =
  "Skills are folders with instructions, scripts and other files for special tasks. When a task fits the description of a skill, read " +
  "its SKILL.md before you begin, and follow it. Paths in it are relative to its folder.";

/** Returns the system prompt with a list of the skills. */
export function promptWithSkills(systemPrompt: string, skills: readonly KeptSkill[]): string {
  const lines = skills.map(({ name, description, path }) => `- ${name} (${path}): ${description}`);
  const list = skills.length === 0 ? "" : [introduction, ...lines].join("\n");
  return [systemPrompt, list].filter((text) => text !== "").join("\n\n");
}
