// What a JobSpec is sent in: an object whose member `jobspec` it is. Only the inner object is signed, as the text in which it came.

import type { JsonObject, ReadDocument } from "./json.ts";
import { unwrap } from "./request.ts";
import { setMembers } from "./splice.ts";

export interface OpenedSpec {
  readonly spec: ReadDocument;
  /** Undefined when the spec came by itself. */
  readonly wrapper: JsonObject | undefined;
  /** The whole text with another spec in the place of this one. */
  readonly putBack: (specText: string) => string;
}

export function openWrapper(document: ReadDocument): OpenedSpec {
  const { document: spec, wrapper } = unwrap(document);
  return wrapper === undefined
    ? { spec, wrapper, putBack: (specText) => specText }
    : { spec, wrapper, putBack: (specText) => setMembers(document, { jobspec: specText }) };
}
