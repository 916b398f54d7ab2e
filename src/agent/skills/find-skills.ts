// Finds the skills that an agent names: in the operator's directory, else in `skills` of the work directory. A run keeps what it has
// found to its end.

import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Workspace } from "../../engine/sessions/workspace.ts";
import { Fault } from "../../platform/base/fault.ts";
import { describeFailure, type PathFailure } from "../tools/path-failure.ts";
import { OpenedPath, openInside } from "../tools/walk.ts";
import { isSkillName, readFrontMatter } from "./front-matter.ts";

/** Where a skill was found. */
export type SkillSource = "operator" | "session";

/** A skill, as a checkpoint holds it. */
export interface KeptSkill {
  readonly name: string;
  readonly description: string;
  readonly source: SkillSource;
  /** The path of its SKILL.md, as tools take it: absolute for one of the operator. */
  readonly path: string;
  /** Of the bytes of its SKILL.md; empty when it is gone. */
  readonly sha256: string;
}

/** Where skills are. */
export interface SkillPlaces {
  /** The operator's directory; empty without one. */
  readonly directory: string;
  readonly openWorkspace: () => Promise<Workspace>;
}

/** What one answer of read_file shows. */
const skillBytesMax = 102_400;

/**
 * Returns the skills of these names, in this order.
 * @throws Fault INVALID_ARGUMENT for one that is missing or invalid.
 */
export async function findSkills(names: readonly string[], places: SkillPlaces): Promise<KeptSkill[]> {
  const skills: KeptSkill[] = [];
  for (const name of names) {
    skills.push(await findSkill(name, places));
  }
  return skills;
}

/** Returns the hash of a SKILL.md that a run has found; empty when it is gone, or may no longer be read. */
export async function hashOf({ name, source }: KeptSkill, places: SkillPlaces): Promise<string> {
  const [place] = await placesOf(name, places, [source]);
  const opened = place && (await openInside(place.workspace, place.path, "file"));
  if (!(opened instanceof OpenedPath)) {
    return "";
  }
  await using file = opened;
  return file.stat.size > skillBytesMax ? "" : sha256Of(await file.handle.readFile());
}

async function findSkill(name: string, places: SkillPlaces): Promise<KeptSkill> {
  const refuse = (problem: string): Fault =>
    new Fault("INVALID_ARGUMENT", `invalid skill ${name}: ${problem}`, {
      violations: [{ field: "agent.tools.skills", description: problem }],
    });
  if (!isSkillName(name)) {
    throw refuse("a name has 1-64 lowercase letters, digits and single hyphens between them");
  }
  for (const { source, workspace, path, shown } of await placesOf(name, places, ["operator", "session"])) {
    const opened = await openInside(workspace, path, "file");
    if (!(opened instanceof OpenedPath)) {
      if (isMissing(opened)) {
        continue;
      }
      throw refuse(describeFailure(opened, "open"));
    }
    await using file = opened;
    // A link could lead to files that were never meant to be of this skill.
    if (file.realPath !== join(workspace.realPath, path)) {
      throw refuse(`${shown} is a link, or in one: put the folder itself there`);
    }
    if (file.stat.size > skillBytesMax) {
      throw refuse(`its SKILL.md has ${file.stat.size} bytes, maximum ${skillBytesMax}: move parts to other files`);
    }
    const bytes = await file.handle.readFile();
    const head = readFrontMatter(textOf(bytes), name);
    if ("problem" in head) {
      throw refuse(`in ${shown}, ${head.problem}`);
    }
    return { ...head, source, path: shown, sha256: sha256Of(bytes) };
  }
  const where =
    places.directory === "" ? "the work directory" : "the directory of the operator, nor in the work directory";
  throw refuse(`there is no ${join("skills", name, "SKILL.md")} in ${where}`);
}

interface Place {
  readonly source: SkillSource;
  readonly workspace: Workspace;
  /** The path of SKILL.md in it. */
  readonly path: string;
  /** The path for tools. */
  readonly shown: string;
}

/** The operator's directory comes first, so that no session can put a skill in the place of the operator's. */
async function placesOf(
  name: string,
  { directory, openWorkspace }: SkillPlaces,
  sources: readonly SkillSource[],
): Promise<Place[]> {
  const places: Place[] = [];
  if (directory !== "" && sources.includes("operator")) {
    const realPath = await realpath(directory).catch(() => directory);
    const workspace = { client: "", workDir: realPath, realPath, hidden: [] };
    const path = join(name, "SKILL.md");
    places.push({ source: "operator", workspace, path, shown: join(realPath, path) });
  }
  if (sources.includes("session")) {
    const path = join("skills", name, "SKILL.md");
    places.push({ source: "session", workspace: await openWorkspace(), path, shown: path });
  }
  return places;
}

function isMissing(failure: PathFailure): boolean {
  return failure.kind === "system" && ["ENOENT", "ENOTDIR"].includes(failure.errno);
}

/** A byte order mark is no part of the front matter. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
