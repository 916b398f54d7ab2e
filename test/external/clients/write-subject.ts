// The subject of the conformance kit for an installed `@runnel/client`.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../../scripts/run-command.ts";

const subjects = join(repositoryRoot, "test/clients/subjects");

/** Writes the subject to a folder that has the package, in place of the sources. Returns the path of its program. */
export function writeSubject(folder: string): string {
  const answer = readFileSync(join(subjects, "answer.ts"), "utf8")
    .replace(/"(?:\.\.\/)+clients\/typescript\/src\/index\.ts"/, '"@runnel/client"')
    .replace(/"#gen\/([^"]+)\.js"/, '"@runnel/client/gen/$1"')
    .replace(/"\.\.\/service\/log\.ts"/, JSON.stringify(join(repositoryRoot, "test/clients/service/log.ts")));
  if (/from "(?:\.\.\/\.\.|#gen)/.test(answer)) {
    throw new Error("test/clients/subjects/answer.ts imports sources that the package does not replace");
  }
  writeFileSync(join(folder, "answer.ts"), answer);
  const program = join(folder, "subject.ts");
  writeFileSync(program, readFileSync(join(subjects, "typescript.ts"), "utf8"));
  return program;
}
