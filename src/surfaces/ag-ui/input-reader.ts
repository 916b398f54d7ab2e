// Reads the objects of RunAgentInput. Clients of 0.0.x may send null where 1.0 leaves a field out.

import { invalidField } from "../../platform/base/fault.ts";
import { expectedNouns, type JsonKind, ValueReader } from "../../platform/base/json/member-reader.ts";

/** Reads an object of the input. Its methods throw a Fault INVALID_ARGUMENT that names the field. */
export class InputReader extends ValueReader<InputReader> {
  /** The Python types of AG-UI take each name as `thread_id` too, and programs of them send it. */
  override get(name: string): unknown {
    return super.get(name) ?? super.get(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  }

  /** Returns undefined for a value that is not text: it is not worth a refusal. */
  hint(name: string): string | undefined {
    const value = this.find(name);
    return typeof value === "string" ? value : undefined;
  }

  /** Throws also when the text is empty. */
  override requireText(name: string): string {
    return this.hint(name) || this.refuse(name, "string");
  }

  protected override open(value: unknown, path: string): InputReader {
    return new InputReader(value, path);
  }

  protected override wrong(path: string, expected: JsonKind): Error {
    const problem =
      expected === "string" ? "is missing: give a text that is not empty" : `must be ${expectedNouns[expected]}`;
    return invalidField(path || "the body", problem);
  }
}
