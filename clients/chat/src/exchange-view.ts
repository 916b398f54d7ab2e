// The elements of one exchange: the message of the visitor, the parts of the answer, and a note on what became of it.

import { type Part, type ToolPart, textOf } from "./answer.ts";
import { element, part, setText } from "./dom.ts";
import type { Exchange } from "./history.ts";
import { MarkdownText } from "./markdown.ts";
import { noteOf, type Words } from "./words.ts";

interface PartView {
  readonly kind: Part["kind"];
  readonly root: HTMLElement;
  update(part: Part, isLast: boolean): void;
}

export class ExchangeView {
  readonly question: HTMLElement;
  readonly answer: HTMLElement;
  readonly #exchange: Exchange;
  readonly #words: Words;
  readonly #body = part("answer-body", "div");
  readonly #note = part("note", "p", { hidden: true, dir: "auto" });
  #views: PartView[] = [];

  constructor(exchange: Exchange, words: Words) {
    this.#exchange = exchange;
    this.#words = words;
    this.question = part("message question", "article", { ariaLabel: words.visitor, dir: "auto" }, exchange.message);
    this.answer = part("message answer", "article", { ariaLabel: words.agent }, this.#body, this.#note);
  }

  /** Shows the exchange as it is now. Elements of parts that have not changed stay. */
  update(): void {
    const { answer } = this.#exchange;
    const { parts } = answer;
    const kept = this.#views.findIndex(({ kind }, index) => kind !== parts[index]?.kind);
    for (const view of kept === -1 ? [] : this.#views.splice(kept)) {
      view.root.remove();
    }
    for (const [index, each] of parts.entries()) {
      const view = this.#views[index] ?? this.#add(each);
      view.update(each, index === parts.length - 1 && answer.end === undefined);
    }
    const note = noteOf(answer, this.#words);
    setText(this.#note, note);
    this.#note.hidden = note === "";
    this.answer.hidden = parts.length === 0 && note === "";
  }

  /** The text of the answer as it is shown. */
  get text(): string {
    const texts = this.#views.filter(({ kind }) => kind === "text");
    return texts.map(({ root }) => root.innerText).join("\n");
  }

  #add(each: Part): PartView {
    const view = each.kind === "text" ? new TextView(this.#words) : new ToolView(each, this.#words);
    this.#views.push(view);
    this.#body.append(view.root);
    return view;
  }
}

class TextView implements PartView {
  readonly kind = "text";
  readonly root: HTMLElement;
  readonly #text: MarkdownText;

  constructor(words: Words) {
    this.#text = new MarkdownText(words);
    this.root = this.#text.root;
    this.root.setAttribute("part", "text");
  }

  update(each: Part, isLast: boolean): void {
    if (each.kind === "text") {
      this.#text.update(textOf(each), !isLast);
    }
  }
}

/** A call, folded: a visitor may open it. */
class ToolView implements PartView {
  readonly kind = "tool";
  readonly root: HTMLElement;
  readonly #words: Words;
  readonly #name = part("tool-name", "code");
  readonly #state = part("tool-state", "span");
  readonly #input: HTMLElement;
  readonly #result: HTMLElement;
  #shown = "";

  constructor({ input }: ToolPart, words: Words) {
    this.#words = words;
    this.#input = element("pre", { tabIndex: 0, role: "group", ariaLabel: words.toolInput }, input);
    this.#result = element("pre", { tabIndex: 0, role: "group", ariaLabel: words.toolResult, hidden: true });
    const summary = part("tool-summary", "summary", {}, this.#name, " ", this.#state);
    this.root = part("tool", "details", {}, summary, this.#input, this.#result);
  }

  update(each: Part): void {
    const key = each.kind === "tool" ? `${each.sequence} ${each.state}` : "";
    if (each.kind !== "tool" || key === this.#shown) {
      return;
    }
    this.#shown = key;
    const { toolRunning, toolDone, toolFailed } = this.#words;
    setText(this.#name, each.name);
    setText(this.#state, { running: toolRunning, done: toolDone, failed: toolFailed }[each.state]);
    setText(this.#input, each.input);
    setText(this.#result, each.result);
    this.#result.hidden = each.state === "running";
    this.root.dataset.state = each.state;
  }
}
