// The command line of the benches.

import { parseArgs } from "node:util";

export interface Flags {
  readonly quick: boolean;
  readonly json: boolean;
  /** Names of benches; empty means all. */
  readonly names: readonly string[];
  readonly profileDirectory: string | undefined;
}

/** Throws an error that names the mistake and the known names. */
export function readFlags(args: readonly string[], known: readonly string[]): Flags {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      profile: { type: "string" },
    },
  });
  const names = [...positionals, ...values.only.split(",").filter(Boolean)];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`no bench named ${unknown.join(", ")}: there are ${known.join(", ")}`);
  }
  return { quick: values.quick, json: values.json, names, profileDirectory: values.profile };
}
