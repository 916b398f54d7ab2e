// Shows the Markdown of a model while it arrives: new text only appends elements. It never makes HTML from text, loads no picture, and
// a link of an unsafe kind stays text.

import {
  Attr,
  parser_end as endParser,
  parser as openParser,
  type Parser,
  type Renderer,
  Token,
  parser_write as writeParser,
} from "streaming-markdown";
import { type Child, element } from "./dom.ts";
import type { Words } from "./words.ts";

/** Deeper quotes and lists are shown at this depth: a browser fails on thousands of elements in each other. */
const depthMax = 30;

/** A text of a model, as elements in `root`. */
export class MarkdownText {
  readonly root: HTMLElement = element("div", { className: "markdown" });
  readonly #words: Words;
  #parser: Parser;
  #shown = "";
  #hasEnded = false;

  constructor(words: Words) {
    this.#words = words;
    this.#parser = openParser(new ElementWriter(this.root, words));
  }

  /** Shows the text. A text that does not continue the one before is shown from its beginning. */
  update(text: string, hasEnded: boolean): void {
    if (this.#hasEnded ? text !== this.#shown : !text.startsWith(this.#shown)) {
      this.root.replaceChildren();
      this.#parser = openParser(new ElementWriter(this.root, this.#words));
      this.#shown = "";
      this.#hasEnded = false;
    }
    if (text.length > this.#shown.length) {
      writeParser(this.#parser, text.slice(this.#shown.length));
      this.#shown = text;
    }
    if (hasEnded && !this.#hasEnded) {
      endParser(this.#parser);
      this.#hasEnded = true;
    }
  }
}

/** An open token: where its text goes, and what follows it. */
interface Open {
  readonly token: Token;
  readonly node: Element;
  readonly closing: string;
}

class ElementWriter implements Renderer<undefined> {
  readonly data = undefined;
  readonly #words: Words;
  readonly #open: Open[];
  #lastCharacter = "";

  constructor(root: Element, words: Words) {
    this.#words = words;
    this.#open = [{ token: Token.Document, node: root, closing: "" }];
  }

  readonly add_token = (_: undefined, token: Token): void => {
    if (token === Token.Document) {
      return;
    }
    const parent = this.#last().node;
    const marks = this.#literalMarks(token);
    if (marks !== "" || this.#open.length > depthMax) {
      this.#write(marks);
      this.#open.push({ token, node: parent, closing: marks });
      return;
    }
    const { outer, inner = outer } = this.#make(token, parent);
    placeOf(token, parent).append(outer);
    this.#open.push({ token, node: inner, closing: "" });
    this.#lastCharacter = "";
  };

  readonly end_token = (): void => {
    const { token, node, closing } = this.#last();
    this.#write(closing);
    if (this.#open.length > 1) {
      this.#open.pop();
    }
    if (token === Token.Link || token === Token.Image) {
      this.#showHost(node);
    }
  };

  readonly add_text = (_: undefined, text: string): void => this.#write(text);

  readonly set_attr = (_: undefined, attribute: Attr, value: string): void => {
    const { node } = this.#last();
    if ((attribute === Attr.Href || attribute === Attr.Src) && node instanceof HTMLAnchorElement) {
      // A title follows the address.
      const [address = ""] = value.trim().split(/\s/);
      if (/^(?:https?:\/\/|mailto:)/i.test(address) && URL.canParse(address)) {
        node.href = address;
      }
    } else if (attribute === Attr.Checked && node instanceof HTMLInputElement) {
      node.checked = true;
      node.setAttribute("aria-label", this.#words.done);
    } else if (attribute === Attr.Start && node instanceof HTMLOListElement) {
      node.start = Number(value);
    }
  };

  #last(): Open {
    return this.#open.at(-1) as Open;
  }

  #write(text: string): void {
    if (text === "") {
      return;
    }
    this.#lastCharacter = text.slice(-1);
    const { node } = this.#last();
    if (node.lastChild instanceof Text) {
      node.lastChild.appendData(text);
    } else {
      node.append(text);
    }
  }

  /** The marks of a token that is shown as it was written: no formula is set, and `_` within a word is no emphasis. */
  #literalMarks(token: Token): string {
    const isInWord = /[\p{L}\p{N}]/u.test(this.#lastCharacter);
    switch (token) {
      case Token.Equation_Block:
        return "$$";
      case Token.Equation_Inline:
        return "$";
      case Token.Italic_Und:
        return isInWord ? "_" : "";
      case Token.Strong_Und:
        return isInWord ? "__" : "";
      default:
        return "";
    }
  }

  #make(token: Token, parent: Element): { readonly outer: Element; readonly inner?: Element } {
    switch (token) {
      case Token.Code_Block:
      case Token.Code_Fence: {
        const code = element("code");
        return { outer: element("pre", scrolled(this.#words.code), code), inner: code };
      }
      case Token.Table: {
        const table = element("table");
        return { outer: element("div", { className: "table", ...scrolled(this.#words.table) }, table), inner: table };
      }
      case Token.Table_Cell:
        return { outer: element(parent.parentElement?.localName === "thead" ? "th" : "td", { dir: "auto" }) };
      case Token.Checkbox:
        return { outer: element("input", { type: "checkbox", disabled: true, ariaLabel: this.#words.toDo }) };
      case Token.Link:
      case Token.Raw_URL:
      case Token.Image:
        return { outer: element("a", { target: "_blank", rel: "noopener noreferrer nofollow" }) };
      default: {
        const [name, properties] = tags[token] ?? ["span", {}];
        return { outer: element(name, properties) };
      }
    }
  }

  /** The label of a link may name another host, so the host follows it. */
  #showHost(link: Element): void {
    if (link instanceof HTMLAnchorElement && link.host !== "" && link.textContent !== link.href) {
      link.after(element("span", { className: "host" }, ` (${link.host})`));
    }
  }
}

const ownDirection = { dir: "auto" };
/** A heading of the text must not become one of the page. */
const heading = ["p", { className: "heading", ...ownDirection }] as const;

const tags: Readonly<Partial<Record<Token, readonly [name: string, properties: object]>>> = {
  [Token.Paragraph]: ["p", ownDirection],
  [Token.Heading_1]: heading,
  [Token.Heading_2]: heading,
  [Token.Heading_3]: heading,
  [Token.Heading_4]: heading,
  [Token.Heading_5]: heading,
  [Token.Heading_6]: heading,
  [Token.Blockquote]: ["blockquote", ownDirection],
  [Token.Line_Break]: ["br", {}],
  [Token.Rule]: ["hr", {}],
  [Token.Italic_Ast]: ["em", {}],
  [Token.Italic_Und]: ["em", {}],
  [Token.Strong_Ast]: ["strong", {}],
  [Token.Strong_Und]: ["strong", {}],
  [Token.Strike]: ["s", {}],
  [Token.Code_Inline]: ["code", {}],
  [Token.List_Unordered]: ["ul", ownDirection],
  [Token.List_Ordered]: ["ol", ownDirection],
  [Token.List_Item]: ["li", {}],
  [Token.Table_Row]: ["tr", {}],
};

/** What scrolls by itself can be reached by the keyboard, and has a name. */
function scrolled(name: string): { readonly tabIndex: number; readonly role: string; readonly ariaLabel: string } {
  return { tabIndex: 0, role: "group", ariaLabel: name };
}

/** The rows of a table are in its head and its body. */
function placeOf(token: Token, parent: Element): Element {
  if (token !== Token.Table_Row) {
    return parent;
  }
  const [head, body] = parent.children;
  const place = head === undefined ? "thead" : "tbody";
  const made: Child[] = place === "tbody" && body !== undefined ? [] : [element(place)];
  parent.append(...made);
  return parent.lastElementChild ?? parent;
}
