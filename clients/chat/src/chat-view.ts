// The elements of the widget: the log, the line of state and the form.

import type { Conversation } from "./conversation.ts";
import { part, setText } from "./dom.ts";
import { ExchangeView } from "./exchange-view.ts";
import type { Exchange } from "./history.ts";
import { Speech } from "./speech.ts";
import { statusOf, type Words } from "./words.ts";

/** A reader who is this near to the end of the log follows it. */
const nearEndPx = 40;

export interface ChatActions {
  readonly send: (message: string) => void;
  readonly stop: () => void;
  readonly again: () => void;
}

export class ChatView {
  readonly root: HTMLElement;
  readonly input: HTMLTextAreaElement;
  readonly #words: Words;
  readonly #log: HTMLElement;
  readonly #status = part("status", "p", { role: "status", dir: "auto" });
  readonly #send: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;
  readonly #again: HTMLButtonElement;
  readonly #speech = new Speech();
  readonly #views = new Map<Exchange, ExchangeView>();
  #followsEnd = true;

  constructor(words: Words, { send, stop, again }: ChatActions) {
    this.#words = words;
    this.#log = part("log", "div", { role: "log", ariaLive: "off", ariaLabel: words.conversation, tabIndex: 0 });
    this.input = part("input", "textarea", { rows: 1, placeholder: words.placeholder, ariaLabel: words.message });
    this.input.dir = "auto";
    this.#send = part("button send", "button", { type: "submit" }, words.send);
    this.#stop = part("button stop", "button", { type: "button", hidden: true, onclick: stop }, words.stop);
    this.#again = part("button again", "button", { type: "button", hidden: true, onclick: again }, words.again);
    const form = part("form", "form", {}, this.input, this.#again, this.#stop, this.#send);
    this.root = part("chat", "div", {}, this.#log, this.#status, form, this.#speech.root);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(send);
    });
    this.input.addEventListener("keydown", (event) => {
      // Enter that ends a word of an input method is no end of the message.
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    this.#log.addEventListener("scroll", () => {
      const { scrollHeight, scrollTop, clientHeight } = this.#log;
      this.#followsEnd = scrollHeight - scrollTop - clientHeight < nearEndPx;
    });
  }

  /** Shows the conversation as it is now; undefined when the page has not said where it takes place. */
  update(conversation: Conversation | undefined): void {
    const exchanges = conversation?.exchanges ?? [];
    const last = exchanges.at(-1);
    for (const exchange of exchanges) {
      const isNew = !this.#views.has(exchange);
      const view = this.#views.get(exchange) ?? this.#add(exchange);
      if (isNew || exchange === last || exchange === exchanges.at(-2)) {
        view.update();
      }
      if (isNew) {
        this.#speech.begin(view.text);
      }
    }
    this.#showState(conversation, last);
    if (this.#followsEnd) {
      this.#log.scrollTop = this.#log.scrollHeight;
    }
  }

  #showState(conversation: Conversation | undefined, last: Exchange | undefined): void {
    const isOpen = conversation?.isOpen === true;
    const activity = conversation?.activity ?? { name: "idle" };
    const isWaiting = isOpen && (last?.answer.isParked === true || (last?.answer.approvals.length ?? 0) > 0);
    const hasFailed = activity.name === "failed";
    setText(
      this.#status,
      conversation === undefined ? this.#words.notReady : statusOf(activity, isWaiting, this.#words),
    );
    this.#status.dataset.state = activity.name;
    this.#log.ariaBusy = String(isOpen && !hasFailed);
    // A button that goes away takes the focus with it.
    const hadFocus = [this.#stop, this.#again, this.#send].some((button) => button.matches(":focus"));
    this.#send.hidden = isOpen && !hasFailed;
    this.#send.disabled = conversation === undefined;
    this.#stop.hidden = !isOpen || hasFailed;
    this.#again.hidden = !hasFailed;
    if (hadFocus && ![this.#stop, this.#again, this.#send].some((button) => button.matches(":focus"))) {
      this.input.focus();
    }
    if (last !== undefined) {
      this.#speech.update(() => this.#views.get(last)?.text ?? "", !isOpen);
    }
  }

  #add(exchange: Exchange): ExchangeView {
    const view = new ExchangeView(exchange, this.#words);
    this.#views.set(exchange, view);
    this.#log.append(view.question, view.answer);
    return view;
  }

  #submit(send: (message: string) => void): void {
    const message = this.input.value.trim();
    if (message !== "" && !this.#send.hidden && !this.#send.disabled) {
      this.input.value = "";
      this.#followsEnd = true;
      send(message);
    }
  }
}
