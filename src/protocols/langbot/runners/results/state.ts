// A new value of the state, as a runner reports it.

import { findKeyProblem, findValueProblem } from "../../../../engine/memory/state-text.ts";
import { jsonDepthMax } from "../../../../platform/base/json/text.ts";
import { stateValueBytesMax } from "../limits.ts";
import { isStateScope, type StateScope, stateScopes } from "../scope.ts";
import { type Members, PayloadFault } from "./members.ts";

/** The payload of `state.updated`. */
export interface StateUpdate {
  readonly scope: StateScope;
  readonly key: string;
  /** The value as JSON, as it was written. `null` is a value. */
  readonly value: string;
}

/** Parses a `state.updated`. Throws PayloadFault when it is invalid. */
export function readStateUpdate(members: Members): StateUpdate {
  const scope = members.requireText("scope");
  const keyNode = members.require("key", "text");
  const key = keyNode.kind === "string" ? keyNode.value : members.requireText("key");
  const value = members.textOf(members.require("value", "a JSON value, which may be null"));
  if (!isStateScope(scope)) {
    throw new PayloadFault(`${members.path}.scope must be one of ${stateScopes.join(", ")}`);
  }
  members.refuseOthers();
  const problem = findProblem(key, value, members.path);
  if (problem !== undefined) {
    throw new PayloadFault(problem);
  }
  return { scope, key, value };
}

function findProblem(key: string, value: string, path: string): string | undefined {
  const keyProblem = findKeyProblem(key);
  if (keyProblem !== undefined) {
    return `${path}.key ${keyProblem}`;
  }
  const bytes = Buffer.byteLength(value);
  if (bytes > stateValueBytesMax) {
    const limit = `maximum ${stateValueBytesMax}: keep large data in the storage`;
    return `payload_too_large: ${path}.value has ${bytes} bytes, ${limit}`;
  }
  const valueProblem = findValueProblem(value);
  return valueProblem === undefined ? undefined : `${path}.value ${valueProblem}`;
}

/** The maximum depth of the payload: one more than that of a value. */
export const stateUpdateDepthMax = jsonDepthMax + 1;
