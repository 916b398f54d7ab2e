// The flags that say when a key is valid, for whom and where.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Command } from "commander";
import type { TrustedKey } from "#gen/runnel/job/v1/trust_pb.js";
import { readExpiry, readTime } from "../arguments.ts";

/** The value that removes a term. */
const none = "none";

type Time = Date | typeof none;

/** The flags of the terms; false for `--no-…`. */
export interface TermFlags {
  readonly from?: Time;
  readonly until?: Time;
  readonly client?: readonly string[] | false;
  readonly region?: readonly string[] | false;
  readonly runner?: readonly string[] | false;
}

/** The terms of a trusted key. */
export type Terms = Pick<TrustedKey, "notBefore" | "notAfter" | "clientIds" | "regions" | "runners">;

/** Adds the flags of the terms. */
export function addTermFlags(command: Command): Command {
  return command
    .option(
      "--from <when>",
      "start of validity, such as 12h or 2031-12-31; `none` removes it: valid at once",
      orNone(readTime),
    )
    .option(
      "--until <when>",
      "end of validity, such as 90d or 2031-12-31; `none` removes it: no expiry",
      orNone(readExpiry),
    )
    .option("--client <id>", "client that may submit specs of this key; may be repeated", collect)
    .option("--no-client", "every client may submit them")
    .option("--region <name>", "region in which its jobs may run; may be repeated", collect)
    .option("--no-region", "its jobs may run in every region")
    .option("--runner <name>", "runner on which its jobs may run; may be repeated", collect)
    .option("--no-runner", "its jobs may run on every runner");
}

/** Reads the terms that were given; `paths` names them for the update mask. */
export function readTerms(flags: TermFlags): { readonly terms: Partial<Terms>; readonly paths: string[] } {
  const { from, until, client, region, runner } = flags;
  const given: readonly (readonly [path: string, value: unknown])[] = [
    ["not_before", from],
    ["not_after", until],
    ["client_ids", client],
    ["regions", region],
    ["runners", runner],
  ];
  const [notBefore, notAfter] = [stampOf(from), stampOf(until)];
  return {
    terms: {
      ...(notBefore !== undefined && { notBefore }),
      ...(notAfter !== undefined && { notAfter }),
      clientIds: [...(client || [])],
      regions: [...(region || [])],
      runners: [...(runner || [])],
    },
    paths: given.filter(([, value]) => value !== undefined).map(([path]) => path),
  };
}

function orNone(read: (text: string) => Date): (text: string) => Time {
  return (text) => (text === none ? none : read(text));
}

function collect(value: string, before: readonly string[] | false = false): readonly string[] {
  return [...(before || []), value];
}

function stampOf(said: Time | undefined): TrustedKey["notBefore"] {
  return said === undefined || said === none ? undefined : timestampFromDate(said);
}
