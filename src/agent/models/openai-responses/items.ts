// Collects the items of one response's output from its events.
//
// O1  An item is found by its place in the output, then by its id: some gateways change the id of an item from event to event. An
//     event without both belongs to the latest open item of its type.
// O2  The event that completes an item is exact. The pieces of an item count where that event lacks their text.
// O3  Items are in the order of their places.
// O4  The image of an item is an artifact, which leaves the item, and stands once with its reader.
// O5  A large item of a tool is kept without its largest members, so that a response does not hold all of its images.

import type { ModelArtifact } from "../model.ts";
import { Artifacts } from "../wire/artifacts.ts";
import { asRecord, WrittenValue } from "../wire/frame.ts";
import { fitJson, withoutMember } from "../wire/members.ts";
import { outcomeBytesMax } from "../wire/outcome.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The value of an item. */
export interface ItemValue {
  /** Such as `message`; empty while it is unknown. */
  readonly type: string;
  /** Its members as its latest event has them. */
  readonly fields: Fields;
  /** The item as its latest event has written it. */
  readonly written: WrittenValue | undefined;
}

/** An item of the output. */
export interface OutputItem extends ItemValue {
  /** Whether an event has completed it. */
  readonly isDone: boolean;
  /** Whether large members were left out. */
  readonly isReduced: boolean;
  /** Its pieces so far: the text of a message, thoughts, or the arguments of a call. */
  readonly text: string;
  /** The pieces of a refusal. */
  readonly refusal: string;
  /** How many log probabilities its events have given so far, for each part of its content. */
  readonly logprobs: Map<number, number>;
}

/** Returns the text of a message: that of its pieces, unless the complete message continues it. */
export function textOfMessage({ fields: { content }, text }: OutputItem): string {
  const parts = Array.isArray(content) ? content.map((part) => asRecord(part).text) : [content];
  const whole = parts.filter((part) => typeof part === "string").join("");
  return whole.startsWith(text) ? whole : text;
}

type OpenItem = { -readonly [Key in keyof OutputItem]: OutputItem[Key] } & {
  readonly place: number;
  /** Undefined when its first event named none. */
  readonly index: number | undefined;
  readonly id: string | undefined;
};

/** The items of one response. */
export class OutputItems {
  readonly #items: OpenItem[] = [];
  readonly #byIndex = new Map<number, OpenItem>();
  readonly #byId = new Map<string, OpenItem>();
  readonly #artifacts = new Artifacts();
  #made: ModelArtifact[] = [];
  #hasEvents = false;

  /** Whether an event has brought a whole item. Other responses have their items in their last event alone. */
  get hasEvents(): boolean {
    return this.#hasEvents;
  }

  /** Adds a piece of text to an item and returns the item. */
  addPiece(frame: Fields, type: string, member: "text" | "refusal", piece: string): OutputItem {
    const item = this.#typed(frame, type);
    item[member] += piece;
    return item;
  }

  /** Returns the item of an event about its content. */
  itemOf(frame: Fields, type: string): OutputItem {
    return this.#typed(frame, type);
  }

  /** Takes the beginning of an item. */
  begin(frame: Fields, data: string): void {
    this.#hasEvents = true;
    const fields = asRecord(frame.item);
    const item = this.#find(fields.type, frame.output_index, fields.id);
    if (!item.isDone) {
      replace(item, fields, new WrittenValue(data).at("item"));
    }
  }

  /** Takes a complete item. Returns undefined when it has been complete before. */
  complete(frame: Fields, data: string): OutputItem | undefined {
    this.#hasEvents = true;
    return this.#complete(frame.output_index, asRecord(frame.item), new WrittenValue(data).at("item"));
  }

  /** Takes the output of a whole response. */
  completeAll(output: unknown, data: string): readonly OutputItem[] {
    const written = new WrittenValue(data).at("response").at("output");
    const items = Array.isArray(output) ? output : [];
    return items.flatMap((item, index) => this.#complete(index, asRecord(item), written.at(index)) ?? []);
  }

  /** Removes and returns the artifacts of the items that are complete. */
  takeArtifacts(): readonly ModelArtifact[] {
    const made = this.#made;
    this.#made = [];
    return made;
  }

  /** Returns all items in order. */
  all(): readonly OutputItem[] {
    return this.#items.toSorted((one, other) => one.place - other.place);
  }

  /** The type counts only when no event has named another one. */
  #typed({ output_index: index, item_id: id }: Fields, type: string): OpenItem {
    const item = this.#find(type, index, id);
    item.type ||= type;
    return item;
  }

  #complete(index: unknown, fields: Fields, written: WrittenValue): OutputItem | undefined {
    const item = this.#find(fields.type, index, fields.id);
    if (item.isDone) {
      return undefined;
    }
    replace(item, fields, written);
    item.isDone = true;
    this.#takeImage(item);
    reduce(item);
    return item;
  }

  /** Puts the id of its artifact in place of the image of an item. */
  #takeImage(item: OpenItem): void {
    const { id, output_format: format, result } = item.fields;
    if (item.type !== imageType || typeof result !== "string") {
      return;
    }
    const mediaType = typeof format === "string" ? `image/${format}` : undefined;
    const artifact = this.#artifacts.addBytes({ id, mediaType, base64: result });
    const json = artifact === undefined ? undefined : item.written?.text();
    if (artifact === undefined || json === undefined) {
      return;
    }
    this.#made.push(artifact);
    const reference = artifact.id === "" ? undefined : `"artifact_id":${JSON.stringify(artifact.id)}`;
    replaceText(item, withoutMember(json, "result", reference));
  }

  /** Returns the item of an event, and begins it when it is new. */
  #find(type: unknown, givenIndex: unknown, givenId: unknown): OpenItem {
    const index = typeof givenIndex === "number" ? givenIndex : undefined;
    const atIndex = index === undefined ? undefined : this.#byIndex.get(index);
    if (atIndex !== undefined) {
      return atIndex;
    }
    const id = typeof givenId === "string" && givenId !== "" ? givenId : undefined;
    const item = this.#named(index, id) ?? this.#unplaced(type, index, id) ?? this.#open(index, id);
    if (index !== undefined) {
      this.#byIndex.set(index, item);
    }
    if (id !== undefined) {
      this.#byId.set(id, item);
    }
    return item;
  }

  /** Items at two places are two items, even with one id. */
  #named(index: number | undefined, id: string | undefined): OpenItem | undefined {
    const named = id === undefined ? undefined : this.#byId.get(id);
    return index !== undefined && named?.index !== undefined ? undefined : named;
  }

  /** Returns the open item of a type for an event without a place, or the first one that began without a place. */
  #unplaced(type: unknown, index: number | undefined, id: string | undefined): OpenItem | undefined {
    const open = this.#items.filter((item) => !item.isDone && item.type === type);
    return index === undefined && id === undefined
      ? open.at(-1)
      : open.find((item) => item.index === undefined && item.id === undefined);
  }

  #open(index: number | undefined, id: string | undefined): OpenItem {
    const place = index ?? (this.#items.at(-1)?.place ?? -1) + 1;
    const item = { ...nothing, logprobs: new Map(), place, index, id };
    this.#items.push(item);
    return item;
  }
}

const nothing: Omit<OutputItem, "logprobs"> = {
  type: "",
  fields: {},
  written: undefined,
  isDone: false,
  isReduced: false,
  text: "",
  refusal: "",
};

/** The type of an item with an image. */
const imageType = "image_generation_call";

/** From this length on, an item is reduced. Larger items of tools do not go back to the service anyway. */
const wholeCharsMax = 1024 * 1024;

/** Items that are read to their last byte. */
const neverReduced: ReadonlySet<string> = new Set(["message", "reasoning", "function_call", "custom_tool_call"]);

function reduce(item: OpenItem): void {
  const isLarge = !neverReduced.has(item.type) && (item.written?.frameChars ?? 0) > wholeCharsMax;
  const json = isLarge ? item.written?.text() : undefined;
  const reduced = json === undefined ? undefined : fitJson(json, outcomeBytesMax);
  if (reduced !== undefined && reduced !== json) {
    replaceText(item, reduced);
  }
}

/** The parser makes texts of its own, so nothing holds the frame any longer. */
function replaceText(item: OpenItem, json: string): void {
  item.fields = asRecord(JSON.parse(json));
  item.written = new WrittenValue(json);
  item.isReduced = true;
}

function replace(item: OpenItem, fields: Fields, written: WrittenValue): void {
  item.type = typeof fields.type === "string" ? fields.type : item.type;
  item.fields = fields;
  item.written = written;
}
