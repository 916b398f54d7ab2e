// Runs all checks. A check that throws becomes a finding, and the others continue. Secrets of the settings never appear in
// findings, even if a check or an error quotes them.

import { keys } from "../../platform/config/keys.ts";
import { type Check, type CheckContext, type Finding, fail, why } from "./check.ts";
import { checkCredentials } from "./credentials.ts";
import { checkDatabase } from "./database.ts";
import { checkJail } from "./jail.ts";
import { checkDisk, checkNode, checkOpenFiles, checkWorkRoot } from "./machine.ts";
import { checkPorts } from "./ports.ts";
import { checkProviders } from "./providers.ts";
import { checkSettings } from "./settings.ts";
import { checkTls } from "./tls.ts";
import { checkWorkDirs } from "./work-dirs.ts";

const checks: readonly Check[] = [
  { name: "node", about: "Node", look: checkNode },
  { name: "settings", about: "settings", look: checkSettings },
  { name: "disk", about: "free disk", look: checkDisk },
  { name: "work-root", about: "the work root", look: checkWorkRoot },
  { name: "work-dirs", about: "directories that sessions may name", look: checkWorkDirs },
  { name: "open-files", about: "limits of this process", look: checkOpenFiles },
  { name: "jail", about: "the jail of commands", look: checkJail },
  { name: "database", about: "the database", look: checkDatabase },
  { name: "ports", about: "ports", look: checkPorts },
  { name: "tls", about: "TLS files", look: checkTls },
  { name: "credentials", about: "credentials", look: checkCredentials },
  { name: "providers", about: "model providers", look: checkProviders },
];

/** Runs all checks in order, and calls `onCheck` before each. */
export async function examine(context: CheckContext, onCheck: (about: string) => void = () => {}): Promise<Finding[]> {
  const conceal = concealer(context);
  const findings: Finding[] = [];
  for (const { name, about, look } of checks) {
    onCheck(`looking at ${about} …`);
    try {
      findings.push(...(await look(context)));
    } catch (error) {
      findings.push(fail(name, `could not be looked at (${why(error)})`, "see what the message says"));
    }
  }
  return findings.map(({ found, fix, ...rest }) => ({
    ...rest,
    found: conceal(found),
    ...(fix !== undefined && { fix: conceal(fix) }),
  }));
}

/** The minimum length of a secret. Shorter texts are usually words, and hiding them would damage other words. */
const secretCharsMin = 4;

function concealer({ config }: CheckContext): (text: string) => string {
  const isSecret = (name: string): boolean => "secret" in keys[name as keyof typeof keys];
  const secrets = Object.entries(config)
    .filter(([name]) => name in keys && isSecret(name))
    .flatMap(([, value]) => textsIn(value))
    .filter((text) => text.length >= secretCharsMin);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "[secret]"), text);
}

/** Returns the secrets in a value: a text, a list of keys, or the password of a URL, encoded and decoded. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") {
    const password = URL.parse(value)?.password ?? "";
    return [value, password, decodeLoosely(password)];
  }
  return Array.isArray(value) ? value.flatMap(({ key }: { key: string }) => [key]) : [];
}

function decodeLoosely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
