// What of its grant an action of a run needs. Refused is what is not there, whoever asks and however it is called.

import { Fault, invalidField } from "../../../platform/base/fault.ts";
import type { Api, Grant, Operations } from "../runners/grant.ts";
import { isStateScope, type RunScope, type StorageArea, stateKey } from "../runners/scope.ts";

export type Needs =
  | { readonly api: Api }
  | { readonly model: string; readonly operation: string }
  | { readonly tool: string; readonly operation: string }
  | { readonly knowledgeBase: string; readonly operation: string }
  /** The word as it came: one that is no scope is not granted either. */
  | { readonly stateScope: string }
  | { readonly storage: StorageArea }
  | { readonly approval: true }
  | { readonly file: string };

/** Throws GRANT_REFUSED, or INVALID_ARGUMENT for state of somebody whom the event does not have. */
export function assertGranted({ grant, scope }: { grant: Grant; scope: RunScope }, needs: Needs): void {
  if ("stateScope" in needs && grant.apis.includes("state")) {
    assertPresent(scope, needs.stateScope);
  }
  const missing = findMissing(grant, needs);
  if (missing !== undefined) {
    throw new Fault("GRANT_REFUSED", `${missing} is not granted to this run`);
  }
}

/** There is nothing that could be granted then, so it is not for want of a grant that it is refused. */
function assertPresent(scope: RunScope, word: string): void {
  if (isStateScope(word) && stateKey(scope, word) === undefined) {
    throw invalidField("scope", `event has no ${word}`);
  }
}

/** What the audit calls it. */
export function resourceOf(needs: Needs | undefined): string {
  if (needs === undefined) {
    return "";
  }
  if ("model" in needs) {
    return needs.model;
  }
  if ("tool" in needs) {
    return needs.tool;
  }
  if ("knowledgeBase" in needs) {
    return needs.knowledgeBase;
  }
  return "file" in needs ? needs.file : "";
}

function findMissing(grant: Grant, needs: Needs): string | undefined {
  if ("api" in needs) {
    return grant.apis.includes(needs.api) ? undefined : needs.api;
  }
  if ("model" in needs) {
    return lacks(grant.models, needs.model, needs.operation) ? `${needs.operation} of the model` : undefined;
  }
  if ("tool" in needs) {
    return lacks(grant.tools, needs.tool, needs.operation) ? `${needs.operation} of the tool` : undefined;
  }
  if ("knowledgeBase" in needs) {
    const isMissing = lacks(grant.knowledgeBases, needs.knowledgeBase, needs.operation);
    return isMissing ? `${needs.operation} of the knowledge base` : undefined;
  }
  if ("stateScope" in needs) {
    const scopes: readonly string[] = grant.apis.includes("state") ? grant.stateScopes : [];
    return scopes.includes(needs.stateScope) ? undefined : "state of this scope";
  }
  if ("storage" in needs) {
    const isGranted = needs.storage === "plugin" ? grant.pluginStorage : grant.workspaceStorage;
    return isGranted && grant.apis.includes("storage") ? undefined : `${needs.storage} storage`;
  }
  if ("approval" in needs) {
    return grant.approval === undefined ? "approval" : undefined;
  }
  return grant.files.includes(needs.file) ? undefined : "the file";
}

/** Ids come from outside, so one may be the name of something that every object has. */
function lacks(operations: Operations, id: string, operation: string): boolean {
  return !Object.hasOwn(operations, id) || !operations[id]?.includes(operation);
}
