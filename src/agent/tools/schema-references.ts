// Resolves the references of a JSON Schema. All of them point into the schema itself: nothing is ever fetched. Pure.

import { isObject } from "../../platform/base/json/parse-object.ts";
import { eachSchema, type Fields } from "./sub-schemas.ts";

/** The maximum length of a chain of references. A longer chain counts as endless. */
const hopsMax = 32;

/** Finds the targets of references: `#`, `#/$defs/a`, `#anchor`, and the `$id` of an inner schema. */
export class SchemaReferences {
  readonly #root: Fields;
  readonly #named = new Map<string, Fields>();
  /** The targets of pointers: many references may lead over the same long one. */
  readonly #pointed = new Map<string, Fields | boolean | undefined>();

  constructor(root: Fields) {
    this.#root = root;
    for (const schema of eachSchema(root)) {
      this.#name(schema.$id, schema);
      this.#name(typeof schema.$anchor === "string" ? `#${schema.$anchor}` : undefined, schema);
      this.#name(typeof schema.$dynamicAnchor === "string" ? `#${schema.$dynamicAnchor}` : undefined, schema);
    }
  }

  #name(name: unknown, schema: Fields): void {
    if (typeof name === "string") {
      this.#named.set(name, schema);
    }
  }

  /** Returns the target, or undefined when the reference leads nowhere. */
  find(reference: string): Fields | boolean | undefined {
    if (reference === "#" || reference === "#/") {
      return this.#root;
    }
    return reference.startsWith("#/") ? this.#follow(reference) : this.#named.get(reference);
  }

  #follow(reference: string): Fields | boolean | undefined {
    if (!this.#pointed.has(reference)) {
      this.#pointed.set(reference, this.#walk(reference.slice("#/".length)));
    }
    return this.#pointed.get(reference);
  }

  #walk(pointer: string): Fields | boolean | undefined {
    let place: unknown = this.#root;
    for (const step of pointer.split("/").map(unescapeStep)) {
      const isThere = typeof place === "object" && place !== null && Object.hasOwn(place, step);
      place = isThere ? (place as Fields)[step] : undefined;
    }
    return isObject(place) || typeof place === "boolean" ? place : undefined;
  }

  /** Returns false for a reference that leads nowhere, or in a circle. */
  hasEnd(reference: string): boolean {
    let target = this.find(reference);
    for (let hops = 0; hops < hopsMax; hops++) {
      if (!isObject(target) || typeof target.$ref !== "string") {
        return target !== undefined;
      }
      target = this.find(target.$ref);
    }
    return false;
  }
}

function unescapeStep(step: string): string {
  return decode(step).replaceAll("~1", "/").replaceAll("~0", "~");
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
