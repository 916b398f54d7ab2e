// Paths that hold credentials. File tools refuse them even below the work directory, which may be a home directory or a copy of
// one. `.env` is not among them, because it belongs to the project.

/** Matched anywhere in a path without links. The texts appear in error messages and are part of the contract. */
const sensitiveParts = [
  "/.ssh/",
  "/.aws/",
  "/.config/gcloud/",
  "/.kube/",
  "/.docker/config.json",
  "/etc/shadow",
  "/etc/sudoers",
] as const;

/** Returns the part that makes an absolute path sensitive, or undefined. `/home/a/.ssh` counts, and everything below it. */
export function findSensitivePart(realPath: string): string | undefined {
  const asDirectory = `${realPath}/`;
  return sensitiveParts.find((part) => asDirectory.includes(part));
}
