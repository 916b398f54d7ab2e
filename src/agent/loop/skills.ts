// The skills of a run. It finds them once, and keeps the list in its checkpoint. When another replica continues the run, the model still
// sees that list, and the log says which SKILL.md has changed.

import { dirname } from "node:path";
import type { ResultInit } from "../../engine/log/result.ts";
import type { FailedEnd, RunContext } from "../../engine/runs/driver.ts";
import { Fault } from "../../platform/base/fault.ts";
import { failed } from "../response/failure.ts";
import { findSkills, hashOf, type KeptSkill, type SkillPlaces } from "../skills/find-skills.ts";
import { promptWithSkills } from "../skills/prompt.ts";

/** A run with its skills. */
export interface Skilled {
  /** The context with the list in the system prompt, and with the folders of the operator's skills, which tools may read. */
  readonly context: RunContext;
  /** Undefined for an agent without skills. */
  readonly skills: readonly KeptSkill[] | undefined;
  /** What the log does not say yet. */
  readonly results: readonly ResultInit[];
}

/** Finds the skills of a run, or checks those that it has kept. Returns a failed end when one is missing or invalid. */
export async function openSkills(
  context: RunContext,
  kept: readonly KeptSkill[] | undefined,
  directory: string,
): Promise<Skilled | FailedEnd> {
  const names = context.agent.tools?.skills ?? [];
  if (names.length === 0) {
    return { context, skills: undefined, results: [] };
  }
  const places = { directory, openWorkspace: context.openWorkspace };
  try {
    const skills = kept === undefined ? await findSkills(names, places) : await renewHashes(kept, places);
    const changed = skills.filter(({ sha256 }, index) => kept !== undefined && kept[index]?.sha256 !== sha256);
    const isNews = kept === undefined || changed.length > 0;
    return {
      context: withSkills(context, skills),
      skills,
      results: isNews ? [listedResult(skills, changed)] : [],
    };
  } catch (error) {
    if (error instanceof Fault) {
      return failed(error.message);
    }
    throw error;
  }
}

async function renewHashes(kept: readonly KeptSkill[], places: SkillPlaces): Promise<KeptSkill[]> {
  return await Promise.all(kept.map(async (skill) => ({ ...skill, sha256: await hashOf(skill, places) })));
}

function withSkills(context: RunContext, skills: readonly KeptSkill[]): RunContext {
  const readable = skills.filter(({ source }) => source === "operator").map(({ path }) => dirname(path));
  const { agent, openWorkspace } = context;
  return {
    ...context,
    agent: { ...agent, systemPrompt: promptWithSkills(agent.systemPrompt, skills) },
    openWorkspace: async () => ({ ...(await openWorkspace()), readable }),
  };
}

function listedResult(skills: readonly KeptSkill[], changed: readonly KeptSkill[]): ResultInit {
  return {
    payload: {
      case: "skillsListed",
      value: {
        skills: skills.map(({ name, description, path, sha256 }) => ({ name, description, path, sha256 })),
        changed: changed.map(({ name }) => name),
      },
    },
  };
}
