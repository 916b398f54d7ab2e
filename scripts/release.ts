// `node scripts/release.ts <version>`: writes the version of the next release to every part that names it, and dates its part of
// CHANGELOG.md. It commits, tags and publishes nothing.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { repositoryRoot } from "./run-command.ts";

/** The files that name the version of this service, and nothing else by the same number. */
export const versionedFiles = [
  "README.md",
  "clients/chat/package.json",
  "clients/go/client.go",
  "clients/java/README.md",
  "clients/java/pom.xml",
  "clients/langbot/pyproject.toml",
  "clients/python/pyproject.toml",
  "clients/python/runnel_client/__init__.py",
  "clients/rust/Cargo.toml",
  "clients/typescript/package.json",
  "deploy/kubernetes/kustomization.yaml",
  "deploy/swarm/docker-stack.yml",
  "docs/call/typescript.md",
  "docs/callbacks.md",
  "docs/deployment.md",
  "package.json",
  "test/external/clients/typescript.test.ts",
  "test/external/java-client.test.ts",
  "test/external/python-client.test.ts",
] as const;

/** Returns the version that package.json names. */
export async function readVersion(): Promise<string> {
  return JSON.parse(await readFile(join(repositoryRoot, "package.json"), "utf8")).version;
}

/** Returns the changelog with what was not released as the part of a version. Throws when there is nothing to release. */
export function datePart(changelog: string, version: string, date: string): string {
  const heading = /^## Unreleased\n+(?=### )/m;
  if (!heading.test(changelog)) {
    throw new Error('CHANGELOG.md has nothing below "## Unreleased"');
  }
  return changelog.replace(heading, `## Unreleased\n\n## ${version} - ${date}\n\n`);
}

async function rewrite(file: string, change: (text: string) => string): Promise<void> {
  const path = join(repositoryRoot, file);
  await writeFile(path, change(await readFile(path, "utf8")));
}

if (import.meta.main) {
  const [version = ""] = process.argv.slice(2);
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error("usage: node scripts/release.ts <version>, such as 0.2.0");
  }
  const old = await readVersion();
  await rewrite("CHANGELOG.md", (text) => datePart(text, version, new Date().toISOString().slice(0, 10)));
  for (const file of versionedFiles) {
    await rewrite(file, (text) => text.replaceAll(old, version));
  }
  // Other packages have the same number in the lock files, of which only these places are ours.
  await rewrite("clients/rust/Cargo.lock", (text) =>
    text.replace(`"runnel-client"\nversion = "${old}"`, `"runnel-client"\nversion = "${version}"`),
  );
  await rewrite("package-lock.json", (text) =>
    text.replace(old, version).replace(`"version": "${old}"`, `"version": "${version}"`),
  );
  console.log(`${old} → ${version}. Next: npm run check, commit, git tag --annotate v${version} --message v${version}`);
}
