// What a JobSpec is sent in: an object whose member `jobspec` it is. Only the inner object is signed, as the text in which it came.

import { isObject, type JsonObject, type ReadDocument, readDocument } from "./json.ts";
import { setMembers } from "./splice.ts";

export interface OpenedSpec {
  readonly spec: ReadDocument;
  /** Undefined when the spec came by itself. */
  readonly wrapper: JsonObject | undefined;
  /** The whole text with another spec in the place of this one. */
  readonly putBack: (specText: string) => string;
}

export function openWrapper(document: ReadDocument): OpenedSpec {
  const span = document.spans.get("jobspec");
  if (span === undefined || !isObject(document.object.get("jobspec"))) {
    return { spec: document, wrapper: undefined, putBack: (specText) => specText };
  }
  return {
    spec: readDocument(Buffer.from(document.text.slice(span.start, span.end))),
    wrapper: document.object,
    putBack: (specText) => setMembers(document, { jobspec: specText }),
  };
}
