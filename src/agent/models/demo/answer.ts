// Writes the final text of the demo model: a short introduction and the actual results of its tools. Pure.

import type { Exchange } from "./plan.ts";

/** The maximum length of a quoted text, in UTF-16 code units. */
export const quoteCharsMax = 600;

/** Returns the answer as words, each with its white space. With `words`, it is cut or filled up to exactly that many. */
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
  return text.match(/^\s*\S+\s*|\S+\s*/g) ?? [];
}

function fillWord(index: number): string {
  return filler[index % filler.length] ?? "";
}
