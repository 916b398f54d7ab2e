// The credentials of the person at the page. The key is in memory; on request also in sessionStorage, which ends with the tab.
// Neither is ever in localStorage, a cookie or an address, so another page cannot use them.

import { Store } from "../lib/store.ts";

export interface Access {
  readonly apiKey: string | undefined;
  /** The client of the key; undefined where the page does not know it. */
  readonly clientId?: string | undefined;
  /** True after the service refused a call: the page asks for a key and keeps what it shows. */
  readonly isAsked: boolean;
  /** Why the service refused the key, such as `was revoked`. */
  readonly refusal?: string | undefined;
}

const storageKey = "runnel.api-key";
const clientStorageKey = "runnel.client-id";
/** An admin token opens everything, so an unattended page forgets it. */
const adminTokenMs = 15 * 60_000;
const checkMs = 1_000;

/** The credentials of this page. */
export const access = new Store<Access>({
  apiKey: readStored(storageKey),
  clientId: readStored(clientStorageKey),
  isAsked: false,
});
/** The operator's token, while it is remembered. */
export const adminToken = new Store<string | undefined>(undefined);
/** True when the page has forgotten a token because its time was over. */
export const hasAdminTokenExpired = new Store<boolean>(false);

let forgetting: ReturnType<typeof setInterval> | undefined;

/** Uses a key of this client from now on. */
export function setApiKey(apiKey: string | undefined, clientId: string | undefined, keepsInTab: boolean): void {
  store(storageKey, keepsInTab ? apiKey : undefined);
  store(clientStorageKey, keepsInTab ? clientId : undefined);
  access.set({ apiKey, clientId, isAsked: false });
}

/**
 * Calls `change` when the page uses another key. Unless it is of the same client, everything that was loaded has to be forgotten:
 * another client must not see it. There is one caller for each thing that stays in memory, so it is never taken back.
 */
export function onOtherKey(change: (isSameClient: boolean) => void): void {
  let last = access.get();
  access.subscribe(() => {
    const { apiKey, clientId } = last;
    last = access.get();
    if (last.apiKey !== apiKey) {
      change(clientId !== undefined && last.clientId === clientId);
    }
  });
}

/** Makes the page ask for a key, and say why the service refused the one that it has. */
export function askForKey(refusal: string | undefined = access.get().refusal): void {
  access.set({ ...access.get(), isAsked: true, refusal });
}

/** Closes the question without a new key. */
export function dismissQuestion(): void {
  access.set({ ...access.get(), isAsked: false });
}

/** Remembers the operator's token for a quarter of an hour. */
export function setAdminToken(token: string | undefined): void {
  clearInterval(forgetting);
  hasAdminTokenExpired.set(false);
  adminToken.set(token);
  if (token === undefined) {
    return;
  }
  const endMs = Date.now() + adminTokenMs;
  // One long timer would stand still while the computer sleeps.
  forgetting = setInterval(() => {
    if (Date.now() >= endMs) {
      clearInterval(forgetting);
      hasAdminTokenExpired.set(true);
      adminToken.set(undefined);
    }
  }, checkMs);
}

function readStored(name: string): string | undefined {
  try {
    return sessionStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

function store(name: string, value: string | undefined): void {
  try {
    if (value === undefined) {
      sessionStorage.removeItem(name);
    } else {
      sessionStorage.setItem(name, value);
    }
  } catch {
    // The key lasts as long as the page.
  }
}
