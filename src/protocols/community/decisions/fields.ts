// The fields of an action that a model asks for. What is wrong is told by the field and the fix.

import { type Json, type JsonObject, kindOf } from "./json.ts";

/** For the agent, which reads it in its next cycle. */
export class FieldError extends Error {
  override readonly name = "FieldError";
}

export class ActionFields {
  readonly #raw: JsonObject;

  constructor(raw: JsonObject) {
    this.#raw = raw;
  }

  /** `null` counts as missing. */
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
      throw new FieldError(`${field} has U+0000 or half of a surrogate pair in it: leave that out`);
    }
    return value;
  }

  /** Trimmed; what is blank counts as missing. */
  findName(field: string): string | undefined {
    return this.findText(field)?.trim() || undefined;
  }

  /** `what` says what to give. */
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
