// The text that the demo model ends with: what it is, and what the tools really returned. Pure.

import type { Exchange } from "./plan.ts";

export const quoteCharsMax = 600;

/** The answer cut into words with the white space that follows them; exactly `words` of them when that is given. */
export function writeAnswer(exchange: Exchange, words: number | undefined): string[] {
  const answer = splitWords(composeAnswer(exchange));
  return words === undefined
    ? answer
    : Array.from({ length: words }, (_, index) => answer[index] ?? fillWord(index - answer.length));
}

const introduction = "This is the demo model: it follows fixed rules and asks no language model.";
const filler = splitWords("This sentence is repeated until the answer is as long as you asked. ");

function composeAnswer({ userText, outcomes }: Exchange): string {
  const findings = outcomes.map(({ toolName, text }) => `I called ${toolName} and it returned:\n\n${quote(text)}`);
  const hint = `You wrote: ${quote(userText)}\n\nAsk me to list the files, to read a file by its name, or to look around.`;
  const ending = "Choose a real model for a real answer. ";
  return [introduction, ...(findings.length > 0 ? findings : [hint]), ending].join("\n\n");
}

function quote(text: string): string {
  const whole = text.trim() === "" ? "(nothing)" : text.trimEnd();
  if (whole.length <= quoteCharsMax) {
    return whole;
  }
  return `${whole.slice(0, quoteCharsMax).toWellFormed()}… (${whole.length - quoteCharsMax} more characters)`;
}

function splitWords(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}

function fillWord(index: number): string {
  return filler[index % filler.length] ?? "";
}
