// Refuses some commands before they run, with a message that helps a model to continue. This is no protection: a shell can
// spell a command in countless ways. The jail protects. So there are few rules, they match commands rather than words, and they
// allow legitimate work.

import { posix } from "node:path";
import { findSensitivePart } from "../sensitive.ts";

/** Returns why a command is refused, or undefined when it may run. */
export function refuseCommand(command: string, list: DenyListName): string | undefined {
  for (const { words, patterns, hint } of rules[list]) {
    for (const pattern of patterns) {
      const match = pattern.exec(command);
      if (match !== null) {
        return `${words}: ${(match.groups?.text ?? match[0]).trim()} (${hint})`;
      }
    }
  }
  const part = findSensitive(command);
  return part === undefined ? undefined : `blocked access to sensitive path: ${part} (credentials are out of reach)`;
}

/** The rules of the Agent Runner document, or everything that the document's own service refuses. */
export type DenyListName = keyof typeof rules;

interface Rule {
  /** Part of the contract, like the order of the rules. The matched text follows these words. */
  readonly words: string;
  readonly patterns: readonly RegExp[];
  readonly hint: string;
}

/**
 * The beginning of a command, as far as a pattern can find it without a shell. The program may have a path. A line break begins
 * one itself, so it is not among the blanks: of a thousand empty lines each would be tried with all that follow.
 */
const begin = String.raw`(?:^|[;&|({\n\x60]|\b(?:sudo|env|exec|command|nohup|time|then|do|else|if|while|until|xargs)\s)[^\S\n]*(?:[\w./~-]*/)?`;
const finish = String.raw`(?=$|[\s;&|)}<>\x60])`;

function program(names: string, more = ""): RegExp {
  return new RegExp(`${begin}(?<text>(?:${names})${finish}${more})`, "i");
}

const destructive: Rule = {
  words: "blocked dangerous pattern",
  patterns: [
    // Only the root itself, quoted or not and after any operand, with both flags in any spelling. A directory inside the work
    // directory may be removed.
    /\brm\s+(?=(?:-\S+\s+)*(?:-\w*r|--recursive))(?=(?:-\S+\s+)*(?:-\w*f|--force))(?:[^\s;&|]+[^\S\n]+)+["']?\/+\*?["']?(?=$|[\s;&|)])/i,
    /\bmkfs\.\w+/i,
    program("dd", String.raw`[^;&|\n]*\b(?:if|of)=\S*`),
    /:\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:/,
    program("shutdown|reboot|poweroff|halt"),
    /\b(?:curl|wget)\b[^;&\n]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/i,
    />\s*\/dev\/(?:sd|nvme|hd|xvd|vd)\w+/i,
    /\bchmod\s+(?:-\S+\s+)*0?777\s+(?:-\S+\s+)*["']?\/+\*?["']?(?=$|[\s;&|)])/i,
    program(String.raw`python[\d.]*|ruby|perl|node`, String.raw`\s+(?:-\S+\s+)*-\w*[ce]\b`),
    /\/dev\/(?:tcp|udp)\//i,
  ],
  hint: "work inside the work directory, with files rather than one-liners",
};

const network: Rule = {
  words: "blocked network command",
  patterns: [program("curl|wget|nc|ncat|netcat|ssh|scp|sftp|telnet|ftp|rsync|socat")],
  hint: "commands have no network",
};

/** Further rules of the document's own service, which the document does not list. Many of them refuse legitimate work. */
const strict: readonly Rule[] = [
  {
    ...destructive,
    patterns: [
      ...destructive.patterns,
      /\brm\s+(?:-\S+\s+)*-(?=\w*r)(?=\w*f)\w+/i,
      program("iptables|nft|nftables|firewall-cmd"),
      /\b(?:eval|exec)\s+["']?(?:\$\(|\x60)/i,
      /\bbase64\s+(?:-d|-D|--decode)\b[^;&\n]*\|\s*(?:ba|z|da)?sh\b/i,
    ],
  },
  network,
  {
    words: "blocked interpreter command",
    patterns: [program("python[23]?|node|ruby|perl|php")],
    hint: "use the shell and its tools",
  },
  {
    words: "blocked nested shell execution",
    patterns: [program("bash|sh|zsh|dash", String.raw`\s+(?:-\S+\s+)*-\w*c\b`)],
    hint: "give the command itself",
  },
  {
    words: "blocked command indirection",
    patterns: [/(?:^|[;&|]\s*)\$\w+\s/, program("xargs"), /\bprintf\b[^;&\n]*\|/i, /\\x[0-9a-f]{2}|\$'\\x|\\[0-7]{3}/i],
    hint: "give the command itself",
  },
];

const rules = {
  documented: [destructive, network],
  strict,
} as const satisfies Record<string, readonly Rule[]>;

/** Checks each word as written and with `.` and `..` resolved. A path may be relative, or begin with a home such as `~`. */
function findSensitive(command: string): string | undefined {
  for (const word of command.split(/[\s;&|<>()=\x60]+/)) {
    const path = `/${word.replaceAll(/["'\\]/g, "")}`;
    const part = findSensitivePart(path) ?? findSensitivePart(posix.normalize(path));
    if (part !== undefined) {
      return part;
    }
  }
  return undefined;
}
