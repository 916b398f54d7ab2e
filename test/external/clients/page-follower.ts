// The script of a page that follows a run with `@runnel/client`, as a front end would.

import { connect } from "../../../clients/typescript/src/browser.ts";

export interface PageFollower {
  /** Follows the run with a ticket, and resolves with its end. */
  follow(url: string, ticket: string, runId: string): Promise<{ state: string; text: string; sequences: number[] }>;
  /** The text so far. */
  text(): string;
}

declare global {
  var pageFollower: PageFollower;
}

let shown = "";

globalThis.pageFollower = {
  follow: async (url, ticket, runId) => {
    const run = connect(url, { ticket }).follow(runId);
    const sequences: number[] = [];
    for await (const { sequence } of run) {
      sequences.push(Number(sequence));
      shown = run.text;
    }
    const { state, text } = await run.finish();
    return { state, text, sequences };
  },
  text: () => shown,
};
