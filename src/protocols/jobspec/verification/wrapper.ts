// The wrapper of a JobSpec: an object with the spec as its member `jobspec`. Only the inner object is signed, as its text came.

import type { JsonObject, ReadDocument } from "./json.ts";
import { unwrap } from "./request.ts";
import { setMembers } from "./splice.ts";

/** A spec and its wrapper. */
export interface OpenedSpec {
  readonly spec: ReadDocument;
  /** Undefined when the spec came by itself. */
  readonly wrapper: JsonObject | undefined;
  /** Returns the whole text with another spec in place of this one. */
  readonly putBack: (specText: string) => string;
}

/** Takes a spec out of its wrapper, if it has one. */
export function openWrapper(document: ReadDocument): OpenedSpec {
  const { document: spec, wrapper } = unwrap(document);
  return wrapper === undefined
    ? { spec, wrapper, putBack: (specText) => specText }
    : { spec, wrapper, putBack: (specText) => setMembers(document, { jobspec: specText }) };
}
