// The secrets that the settings hold: one that all callers may share, keys of single clients, the admin token.

import { createHash } from "node:crypto";
import { Fault } from "../base/fault.ts";
import { type ClientKey, type Config, isAuthConfigured } from "../config/keys.ts";
import { keyedClient, sharedClient } from "./caller.ts";

/** Whose signature a request has to carry. */
export interface Signer {
  readonly client: string;
  /** Nonces are single in it. Not the client: under the shared secret the claimed id may not be signed. */
  readonly nonceScope: string;
  /** None for a client that nobody knows. */
  readonly secrets: readonly string[];
}

/** Ids are parts of index entries, which Postgres bounds. */
const clientIdCharsMax = 256;

export class KeyRing {
  /** True while there is nothing to prove oneself with: then everybody may call. */
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
    // Looked up by hash, so that the time of a lookup says nothing about the keys.
    this.#clientsByHash = new Map(authApiKeys.map(({ client, key }) => [hashToken(key).toString("hex"), client]));
    this.#adminHash = authAdminToken === "" ? undefined : hashToken(authAdminToken).toString("hex");
  }

  /** The id selects the key. Without an id the peer's address stands in, but only where no client has a key of its own. */
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

  /** Id of the client whose configured key this is. */
  findClientId(token: string): string | undefined {
    return this.#clientsByHash.get(hashToken(token).toString("hex"));
  }

  /**
   * What requests to a client are signed with: the first key of its own, else the secret that all share. Keys that the
   * database holds as hashes can sign nothing.
   */
  findCallbackSecret(client: string): string | undefined {
    const own = [...this.#keysByClient].find(([id]) => keyedClient(id) === client);
    return own?.[1][0] ?? this.#sharedSecrets[0];
  }

  /** False while nobody can be the administration. */
  get hasAdmin(): boolean {
    return this.#adminHash !== undefined;
  }

  isAdmin(token: string): boolean {
    return this.#adminHash === hashToken(token).toString("hex");
  }
}

/** The form in which tokens are kept and compared. They are long and random, so a plain hash is enough. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function groupByClient(keys: readonly ClientKey[]): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(keys, ({ client }) => client);
  return new Map([...groups].map(([client, group]) => [client, group.map(({ key }) => key)]));
}
