// The custom element `<runnel-chat>`: attributes and properties of the page, a conversation, and its view in a shadow tree.

import type { Backend } from "./backend.ts";
import { ChatView } from "./chat-view.ts";
import { Conversation } from "./conversation.ts";
import type { ApprovalRequested } from "./entry.ts";
import { styles } from "./styles.ts";
import { english, type Words } from "./words.ts";

/** The detail of the event `runnel-chat-waiting`: what a person has to decide before the run continues. */
export interface WaitingDetail {
  readonly run_id: string;
  readonly approvals: readonly ApprovalRequested[];
}

/** Servers that render pages load the module too, and have no elements. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** Properties that a page may set before the script has loaded. */
const ownProperties = ["backend", "words"] as const;

export class RunnelChat extends Base {
  static readonly observedAttributes = ["endpoint", "backend", "conversation"];
  #backend: Backend | undefined;
  #words: Words = english;
  #conversation: Conversation | undefined;
  #view: ChatView | undefined;
  #frame = 0;
  #toldWaiting = "";
  readonly #keep = (): void => this.#conversation?.save();

  /** Where the messages go: the URL of the site, or a function that does the same. */
  get backend(): Backend | undefined {
    return this.#backend ?? this.getAttribute("backend") ?? undefined;
  }

  set backend(backend: Backend | undefined) {
    this.#backend = backend;
    this.#open();
  }

  /** Words of the site in place of the English ones. */
  get words(): Partial<Words> {
    return this.#words;
  }

  set words(words: Partial<Words> | undefined) {
    this.#words = { ...english, ...words };
    this.#draw();
  }

  connectedCallback(): void {
    for (const name of ownProperties) {
      if (Object.hasOwn(this, name)) {
        const value: unknown = this[name];
        delete this[name];
        Object.assign(this, { [name]: value });
      }
    }
    addEventListener("pagehide", this.#keep);
    this.#draw();
    this.#open();
  }

  disconnectedCallback(): void {
    removeEventListener("pagehide", this.#keep);
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#conversation?.close();
    this.#conversation = undefined;
  }

  attributeChangedCallback(_: string, before: string | null, after: string | null): void {
    if (before !== after) {
      this.#open();
    }
  }

  override focus(options?: FocusOptions): void {
    this.#view?.input.focus(options);
  }

  /** Opens the conversation of the place that the page names, and continues it. */
  #open(): void {
    if (!this.isConnected || this.#view === undefined) {
      return;
    }
    const endpoint = this.getAttribute("endpoint");
    const { backend } = this;
    const conversation = this.getAttribute("conversation") ?? "";
    this.#conversation?.close();
    this.#toldWaiting = "";
    this.#conversation =
      endpoint && backend ? new Conversation({ endpoint, backend, conversation }, () => this.#changed()) : undefined;
    this.#draw();
    this.#conversation?.resume();
  }

  /** Makes the view anew: another conversation, or other words. */
  #draw(): void {
    if (!this.isConnected) {
      return;
    }
    const typed = this.#view?.input.value ?? "";
    const hadFocus = this.#view?.input.matches(":focus") ?? false;
    this.#view = new ChatView(this.#words, {
      send: (message) => this.#conversation?.send(message),
      stop: () => this.#conversation?.stop(),
      again: () => this.#conversation?.resume(),
    });
    const root = this.shadowRoot ?? this.#attach();
    root.replaceChildren(this.#view.root);
    this.#view.input.value = typed;
    this.#view.update(this.#conversation);
    if (hadFocus) {
      this.#view.input.focus();
    }
  }

  #attach(): ShadowRoot {
    const root = this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    root.adoptedStyleSheets = [sheet];
    return root;
  }

  /** Shows changes once in a frame: an answer may have hundreds in a second. */
  #changed(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#view?.update(this.#conversation);
      this.#tellWaiting();
    });
  }

  #tellWaiting(): void {
    const { runId = "", answer } = this.#conversation?.exchanges.at(-1) ?? {};
    const approvals = answer?.approvals ?? [];
    const waiting = JSON.stringify(approvals);
    if (waiting !== this.#toldWaiting && approvals.length > 0) {
      const detail: WaitingDetail = { run_id: runId, approvals };
      this.dispatchEvent(new CustomEvent("runnel-chat-waiting", { detail, bubbles: true, composed: true }));
    }
    this.#toldWaiting = waiting;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "runnel-chat": RunnelChat;
  }
}
