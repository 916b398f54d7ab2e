// The part of its grant that an action needs. A missing grant is a refusal, regardless of the caller and of the name in the
// call.

import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { reasons } from "../reasons.ts";
import type { Api, Grant, Operations } from "../runners/grant.ts";
import { isStateScope, type RunScope, type StorageArea, stateKey } from "../runners/scope.ts";

/** The grant that an action needs. */
export type Needs =
  | { readonly api: Api }
  | { readonly model: string; readonly operation: string }
  | { readonly tool: string; readonly operation: string }
  | { readonly knowledgeBase: string; readonly operation: string }
  /** The scope as received. An unknown scope is not granted either. */
  | { readonly stateScope: string }
  | { readonly storage: StorageArea }
  | { readonly approval: true }
  | { readonly file: string };

/**
 * Throws Fault GRANT_REFUSED, or INVALID_ARGUMENT for state of an actor, subject or conversation that the event does not have.
 */
export function assertGranted({ grant, scope }: { grant: Grant; scope: RunScope }, needs: Needs): void {
  if ("stateScope" in needs && grant.apis.includes("state")) {
    assertPresent(scope, needs.stateScope);
  }
  const missing = findMissing(grant, needs);
  if (missing !== undefined) {
    throw new Fault(reasons.GRANT_REFUSED, `${missing} is not granted to this run`);
  }
}

/** Throws Fault INVALID_ARGUMENT rather than GRANT_REFUSED: without the party in the event, nothing could be granted. */
function assertPresent(scope: RunScope, word: string): void {
  if (isStateScope(word) && stateKey(scope, word) === undefined) {
    throw invalidField("scope", `event has no ${word}`);
  }
}

/** Returns the name of the resource in the audit. */
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

/** Whether an operation is missing. Ids come from outside, and may equal the name of an inherited property of every object. */
function lacks(operations: Operations, id: string, operation: string): boolean {
  return !Object.hasOwn(operations, id) || !operations[id]?.includes(operation);
}
