// Reads the fields of an action that a model asks for. An error names the field and how to correct it.
// It is not a `MemberReader`: numbers may be raw text here, and each required text has words of its own for what to give.

import { type Json, type JsonObject, kindOf } from "./json.ts";

/** An error for the agent, which reads it in its next cycle. */
export class FieldError extends Error {
  override readonly name = "FieldError";
}

/** Reads the fields of one action. Its methods throw a `FieldError` for an invalid field. */
export class ActionFields {
  readonly #raw: JsonObject;

  constructor(raw: JsonObject) {
    this.#raw = raw;
  }

  /** Returns the value of a field. Returns undefined when it is missing or `null`. */
  find(field: string): Json | undefined {
    return Object.hasOwn(this.#raw, field) ? (this.#raw[field] ?? undefined) : undefined;
  }

  findText(field: string): string | undefined {
    const value = this.find(field);
    if (value === undefined) {
      return undefined;
    }
    if (typeof value !== "string") {
      throw new FieldError(`${field} must be a string, not ${kindOf(value)}: put it in double quotes`);
    }
    if (value.includes("\0") || !value.isWellFormed()) {
      throw new FieldError(`${field} contains U+0000 or half of a surrogate pair: remove it`);
    }
    return value;
  }

  /** Returns the trimmed text. Returns undefined when it is blank or missing. */
  findName(field: string): string | undefined {
    return this.findText(field)?.trim() || undefined;
  }

  /** Returns the text, which must not be blank. `what` tells the agent what to give. */
  requireText(field: string, what: string): string {
    const value = this.findText(field);
    if (value === undefined || value.trim() === "") {
      throw new FieldError(`${field} is missing: give ${what}`);
    }
    return value;
  }

  requireThreadId(): string {
    return this.requireText("threadId", "the id of a thread").trim();
  }
}
