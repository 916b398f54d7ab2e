// The credentials of tests: clients with a key each, which the services of tests know.

import type { ClientKey } from "../../src/platform/config/keys.ts";

/** The default client of tests. */
export const defaultClientId = "local";

/** For services in the test's process. */
export const testKeys: readonly ClientKey[] = [defaultClientId, "stranger", "tenant-a", "tenant-b"].map((client) => ({
  client,
  key: `key-of-${client}-for-tests`,
}));

/** For services in processes of their own. */
export const authEnvironment = {
  RUNNEL_AUTH_API_KEYS: testKeys.map(({ client, key }) => `${client}=${key}`).join("\n"),
};

export function keyOf(clientId: string = defaultClientId): string {
  const known = testKeys.find(({ client }) => client === clientId);
  if (known === undefined) {
    throw new Error(`no client ${clientId} in the tests' keys`);
  }
  return known.key;
}

/** The operator of a service that has `adminToken`. */
export const operatorId = "operator";
export const adminToken = "the-admin-token-of-tests";

/** Returns headers that authenticate the client, or the operator. */
export function credentialsOf(clientId?: string): Record<string, string> {
  return { authorization: `Bearer ${clientId === operatorId ? adminToken : keyOf(clientId)}` };
}
