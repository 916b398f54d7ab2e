// A strict reader of event streams, written from the HTML standard ("interpreting an event stream"). Input that the standard
// silently ignores and that we never send on purpose is an error here.

export interface StrictEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

export class StrictSseReader {
  readonly events: StrictEvent[] = [];
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #text = "";
  #isFirst = true;
  #lastId = "";
  #type = "";
  #data: string[] = [];

  feed(bytes: Uint8Array): void {
    this.#text += this.#decoder.decode(bytes, { stream: true });
    if (this.#isFirst && this.#text !== "") {
      this.#isFirst = false;
      this.#text = this.#text.replace(/^\ufeff/, "");
    }
    // A carriage return at the very end may be the first half of a CRLF.
    for (let end = /\r\n|\r(?!$)|\n/.exec(this.#text); end !== null; end = /\r\n|\r(?!$)|\n/.exec(this.#text)) {
      this.#line(this.#text.slice(0, end.index));
      this.#text = this.#text.slice(end.index + end[0].length);
    }
  }

  /** Throws when the stream breaks off inside an event. */
  end(): void {
    this.#decoder.decode();
    if (this.#text !== "" || this.#data.length > 0 || this.#type !== "") {
      throw new Error("the stream ends inside an event");
    }
  }

  #line(line: string): void {
    if (line === "") {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) {
      return;
    }
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    this.#field(name, value);
  }

  #field(name: string, value: string): void {
    if (name === "data") {
      this.#data.push(value);
    } else if (name === "event") {
      this.#type = value;
    } else if (name === "id" && !value.includes("\0")) {
      this.#lastId = value;
    } else {
      throw new Error(`no field of ours: ${JSON.stringify(name)}`);
    }
  }

  #dispatch(): void {
    if (this.#data.length > 0) {
      this.events.push({ id: this.#lastId, type: this.#type || "message", data: this.#data.join("\n") });
    }
    this.#data = [];
    this.#type = "";
  }
}
