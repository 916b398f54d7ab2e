// Inboxes of the text exchange, in this process: from text to commands, beside merely splitting the same text at its newlines.

import { parseInbox } from "../../../src/protocols/exchange/inbox/parse.ts";
import type { Bench, Variant } from "../bench.ts";
import { takeTurns } from "../ground/turns.ts";

const bytes = 1_000_000;
const textsOfTurn = 20;

interface Inbox {
  /** The part that is repeated between `before` and `after`. */
  readonly unit: string;
  readonly before?: string;
  readonly after?: string;
  /** The expected entries of the list, errors included. A parser that is fast because it skips work would not return them. */
  readonly commands: number;
}

const code = "  const total = prices.reduce((sum, each) => sum + each.cents, 0); // [1, 2, 3]";
const small = '[READ_FILE path="src/a.ts"]\n[RUN_COMMAND]\nnpm test\n[/RUN_COMMAND]\n\n';

const inboxes: Readonly<Record<string, Inbox>> = {
  "small commands": { unit: small, commands: 2 * Math.floor(bytes / small.length) },
  "one file": {
    unit: `${code}\n`,
    before: '[CREATE_FILE path="src/a.ts"]\n',
    after: "[/CREATE_FILE]\n",
    commands: 1,
  },
  "one file, CRLF": {
    unit: `${code}\r\n`,
    before: '[CREATE_FILE path="src/a.ts"]\r\n',
    after: "[/CREATE_FILE]\r\n",
    commands: 1,
  },
  prose: { unit: "I will first look at the tests, then change what they ask for, and run them again.\n", commands: 0 },
  brackets: { unit: "[[a] [b]]\n[x\n[[[[[[\n", commands: 0 },
  "near misses": { unit: "[Message_of]\n[TODO]\n[My_File path]\n", commands: 0 },
  "unclosed blocks": { unit: '[CREATE_FILE path="src/a.ts"]\n', commands: 1 },
  "wrong tags": { unit: "[READ_FILE]\n", commands: Math.floor(bytes / 12) },
};

export const exchangeParse: Bench = {
  name: "exchange-parse",
  title: "Inboxes of 1 MB: from text to commands",
  notMeasured:
    "the decoding of bytes, an inbox's path through HTTP and the database, the execution of its commands; scripts other than Latin.",
  roundsMax: 5,
  async *measure() {
    const texts = Object.entries(inboxes).map(([name, inbox]) => ({ name, inbox, text: makeText(inbox) }));
    for (let isWarm = false; ; isWarm = true) {
      const variants: Variant[] = [];
      for (const { name, inbox, text } of texts) {
        variants.push(await compare(name, inbox, text));
      }
      if (isWarm) {
        yield variants;
      }
    }
  },
};

async function compare(name: string, { commands }: Inbox, text: string): Promise<Variant> {
  const faults = new Set<string>();
  const [ours, split] = await takeTurns(textsOfTurn, [
    () => {
      const { length } = parseInbox(text);
      if (length !== commands) {
        faults.add(`${length} commands were parsed instead of ${commands}`);
      }
    },
    () => void text.split("\n"),
  ]);
  const megabytes = text.length / 1_000_000;
  return {
    name,
    metrics: {
      "MB/s": megabytes / ours,
      "split, MB/s": megabytes / split,
      "MB/s, ratio to split": split / ours,
    },
    faults: [...faults],
  };
}

/** Text of one piece, as the bytes of a request become it; all of it is ASCII. */
function makeText({ unit, before = "", after = "" }: Inbox): string {
  const count = Math.floor((bytes - before.length - after.length) / unit.length);
  return Buffer.from(before + unit.repeat(count) + after).toString();
}
