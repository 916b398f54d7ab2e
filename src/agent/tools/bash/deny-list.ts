// Commands that are refused before they run, with words that help a model on. It guards nothing: a shell spells a command in
// countless ways. The jail is what holds. So rules are few, match commands rather than words, and leave honest work alone.

import { posix } from "node:path";
import { findSensitivePart } from "../sensitive.ts";

/** Why a command is refused; undefined when it may run. */
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

/** What the Agent Runner document lists, or all that its own service refuses. */
export type DenyListName = keyof typeof rules;

interface Rule {
  /** Contract, like the order of the rules: what was matched follows upon them. */
  readonly words: string;
  readonly patterns: readonly RegExp[];
  readonly hint: string;
}

/** Where a command begins, as far as can be told without a shell: the program may be given with its path. */
const begin = String.raw`(?:^|[;&|({\n\x60]|\b(?:sudo|env|exec|command|nohup|time|then|do|else|if|while|until|xargs)\s)\s*(?:[\w./~-]*/)?`;
const finish = String.raw`(?=$|[\s;&|)}<>\x60])`;

function program(names: string, more = ""): RegExp {
  return new RegExp(`${begin}(?<text>(?:${names})${finish}${more})`, "i");
}

const destructive: Rule = {
  words: "blocked dangerous pattern",
  patterns: [
    // The root itself, with both flags in whatever spelling; a directory of the work directory may go.
    /\brm\s+(?=(?:-\S+\s+)*(?:-\w*r|--recursive))(?=(?:-\S+\s+)*(?:-\w*f|--force))(?:-\S+\s+)+\/\*?(?=$|[\s;&|)])/i,
    /\bmkfs\.\w+/i,
    program("dd", String.raw`[^;&|\n]*\b(?:if|of)=\S*`),
    /:\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:/,
    program("shutdown|reboot|poweroff|halt"),
    /\b(?:curl|wget)\b[^;&\n]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/i,
    />\s*\/dev\/(?:sd|nvme|hd|xvd|vd)\w+/i,
    /\bchmod\s+(?:-\S+\s+)*0?777\s+\/(?=$|[\s;&|)])/i,
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

/** What the document's own service refuses beyond its document; much of it is honest work. */
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

/** Words as they stand and with `.` and `..` resolved; the root may be left out or be somebody's home. */
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
