// The secrets in the settings: one that all clients may share, keys of single clients, the admin token.

import { createHash } from "node:crypto";
import { Fault } from "../base/fault.ts";
import { type ClientKey, type Config, isAuthConfigured } from "../config/keys.ts";
import { clientIdOf, keyedClient, sharedClient } from "./caller.ts";

/** The client whose signature a request must carry. */
export interface Signer {
  readonly client: string;
  /** Nonces are unique within it. It is not the client: under the shared secret, the claimed id may be unsigned. */
  readonly nonceScope: string;
  /** Empty for an unknown client. */
  readonly secrets: readonly string[];
}

/** The maximum length of a client id. Ids are parts of index entries, whose size Postgres limits. */
const clientIdCharsMax = 256;

/** The secrets of the settings, indexed. */
export class KeyRing {
  /** True when no credentials are configured: then every caller is admitted. */
  readonly isOpen: boolean;
  readonly #sharedSecrets: readonly string[];
  readonly #keysByClient: ReadonlyMap<string, readonly string[]>;
  readonly #clientsByHash: ReadonlyMap<string, string>;
  readonly #adminHash: string | undefined;

  constructor(config: Config) {
    const { authHmacSecret, authHmacSecretPrevious, authApiKeys, authAdminToken } = config;
    this.isOpen = !isAuthConfigured(config);
    this.#sharedSecrets = authHmacSecret === "" ? [] : [authHmacSecret, authHmacSecretPrevious].filter(Boolean);
    this.#keysByClient = groupByClient(authApiKeys);
    // Indexed by hash, so that the duration of a lookup reveals nothing about the keys.
    this.#clientsByHash = new Map(authApiKeys.map(({ client, key }) => [hashToken(key).toString("hex"), client]));
    this.#adminHash = authAdminToken === "" ? undefined : hashToken(authAdminToken).toString("hex");
  }

  /**
   * Returns the signer for a claimed id. Without an id, the peer's address replaces it, but only when no client has its own
   * key. Throws CLIENT_ID_INVALID when the id is missing or too long.
   */
  findSigner(claimedId: string | undefined, address: string): Signer {
    if (claimedId === undefined && (this.#keysByClient.size > 0 || this.#sharedSecrets.length === 0)) {
      throw new Fault("CLIENT_ID_INVALID", "missing X-Client-ID: say which client signed the request");
    }
    const id = claimedId ?? address;
    if (id.length > clientIdCharsMax) {
      throw new Fault("CLIENT_ID_INVALID", `invalid X-Client-ID: more than ${clientIdCharsMax} characters`);
    }
    const keys = this.#keysByClient.get(id);
    if (keys !== undefined || this.#sharedSecrets.length === 0) {
      const client = keyedClient(id);
      return { client, nonceScope: client, secrets: keys ?? [] };
    }
    return { client: sharedClient(id), nonceScope: "shared", secrets: this.#sharedSecrets };
  }

  /** Returns the id of the client with this configured key; undefined for another token. */
  findClientId(token: string): string | undefined {
    return this.#clientsByHash.get(hashToken(token).toString("hex"));
  }

  /**
   * Returns the secret that signs requests to a client: the first key of a client with keys in the settings, and the shared
   * secret for a client of the shared realm. Otherwise undefined: API keys in the database are hashes and cannot sign, and the
   * shared secret would give their clients' receivers a signature by a secret that others hold.
   */
  findCallbackSecret(client: string): string | undefined {
    const id = clientIdOf(client);
    return client === sharedClient(id) ? this.#sharedSecrets[0] : this.#keysByClient.get(id)?.[0];
  }

  /** False when no admin token is configured. */
  get hasAdmin(): boolean {
    return this.#adminHash !== undefined;
  }

  /** Returns true for the admin token. */
  isAdmin(token: string): boolean {
    return this.#adminHash === hashToken(token).toString("hex");
  }
}

/** Returns the form in which tokens are stored and compared. Tokens are long and random, so a plain hash is enough. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function groupByClient(keys: readonly ClientKey[]): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(keys, ({ client }) => client);
  return new Map([...groups].map(([client, group]) => [client, group.map(({ key }) => key)]));
}
