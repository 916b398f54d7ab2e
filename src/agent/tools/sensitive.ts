// Places that hold credentials. File tools refuse them even below the work directory, because they appear there when the
// work directory is a home directory or a copy of one. `.env` is not among them: it belongs to the project being worked on.

/** Matched anywhere in a path without links. The texts stand in error messages and are part of the contract. */
const sensitiveParts = [
  "/.ssh/",
  "/.aws/",
  "/.config/gcloud/",
  "/.kube/",
  "/.docker/config.json",
  "/etc/shadow",
  "/etc/sudoers",
] as const;

/** The part that makes an absolute path sensitive, if any. `/home/a/.ssh` itself counts as well as what lies in it. */
export function findSensitivePart(realPath: string): string | undefined {
  const asDirectory = `${realPath}/`;
  return sensitiveParts.find((part) => asDirectory.includes(part));
}
