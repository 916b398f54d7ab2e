// Reads the MCP servers that the operator names: `name={"command": "node", "args": ["server.js"]}` or `name={"url": "https://…"}`, one a
// line. They may hold secrets, so messages never quote them.

import { isObject } from "../base/json/parse-object.ts";
import { readSigningKey } from "../base/signing-key.ts";
import {
  type Fields,
  isEmpty,
  isText,
  isTextMap,
  isTexts,
  type ProgramAddress,
  readNamedLines,
  readProgram,
  secretWords,
} from "./program-address.ts";

/** A server over HTTP. */
export interface HttpAddress {
  readonly kind: "http" | "sse";
  readonly url: string;
  /** Names in lower case. The values are secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where access tokens for it come from; undefined for a server without them. */
  readonly oauth?: ClientCredentials;
}

/** Credentials of the service at a token endpoint. */
export interface ClientCredentials {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** How the service proves that it is this client. */
  readonly proof: ClientSecret | ClientKey;
  /** Empty means that of the endpoint. */
  readonly scope: string;
}

/** A secret that both sides know (RFC 6749, section 2.3.1). */
export interface ClientSecret {
  readonly kind: "secret";
  readonly secret: string;
}

/** A private key, whose public key the authorization server knows (`private_key_jwt`; RFC 7523, section 2.2). */
export interface ClientKey {
  readonly kind: "key";
  /** PEM. Secret. */
  readonly privateKey: string;
  /** The name of the key at the authorization server; empty without one. */
  readonly keyId: string;
  /** The issuer identifier of the authorization server, for which alone an assertion is valid. */
  readonly issuer: string;
}

/** Where a server is. */
export type McpAddress = HttpAddress | ProgramAddress;

/** A server of the settings. */
export interface McpServerSetting {
  readonly name: string;
  readonly address: McpAddress;
  /** The clients whose agents may name it; undefined means all. */
  readonly clients: readonly string[] | undefined;
  /** The values that no text may show. */
  readonly secrets: readonly string[];
}

/** Returns the servers; undefined when a line is invalid. */
export function readMcpServers(text: string): readonly McpServerSetting[] | undefined {
  return readNamedLines(text, readServer);
}

function readServer(name: string, { clients, ...fields }: Fields): McpServerSetting | undefined {
  const address = "command" in fields ? readProgram(fields) : readHttp(fields);
  if (address === undefined || !(clients === undefined || isTexts(clients))) {
    return undefined;
  }
  return { name, address, clients, secrets: secretsOfAddress(address) };
}

function readHttp({ url, transport = "http", headers = {}, oauth, ...others }: Fields): HttpAddress | undefined {
  const isKnown = transport === "http" || transport === "sse";
  if (!isText(url) || !URL.canParse(url) || !isKnown || !isTextMap(headers) || !isEmpty(others)) {
    return undefined;
  }
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const address: HttpAddress = { kind: transport, url, headers: Object.fromEntries(named) };
  if (oauth === undefined) {
    return address;
  }
  const credentials = isObject(oauth) && !("authorization" in address.headers) ? readCredentials(oauth) : undefined;
  return credentials && { ...address, oauth: credentials };
}

function readCredentials({
  token_url: tokenUrl,
  client_id: clientId,
  scope = "",
  ...others
}: Fields): ClientCredentials | undefined {
  const proof = readProof(others);
  const isRight = isText(tokenUrl) && URL.canParse(tokenUrl) && isText(clientId) && (scope === "" || isText(scope));
  return isRight && proof !== undefined ? { tokenUrl, clientId, proof, scope } : undefined;
}

function readProof({ client_secret: secret, ...fields }: Fields): ClientSecret | ClientKey | undefined {
  if (secret !== undefined) {
    return isText(secret) && isEmpty(fields) ? { kind: "secret", secret } : undefined;
  }
  const { private_key: privateKey, key_id: keyId = "", issuer, ...others } = fields;
  const isKey = isText(privateKey) && readSigningKey(privateKey) !== undefined;
  const isRight = isKey && (keyId === "" || isText(keyId)) && isText(issuer) && isEmpty(others);
  return isRight ? { kind: "key", privateKey, keyId, issuer } : undefined;
}

/**
 * Returns what no text may show: the values of headers and of the environment, and their words, such as a token after `Bearer`, and the
 * secret or the private key of a client.
 */
export function secretsOfAddress(address: McpAddress): readonly string[] {
  if (address.kind === "program") {
    return secretWords(Object.values(address.environment));
  }
  const { headers, oauth } = address;
  return secretWords([...Object.values(headers), ...(oauth === undefined ? [] : secretsOf(oauth))]);
}

/** The lines of a key are secret one by one, because a text may break them in another way. */
function secretsOf({ proof }: ClientCredentials): readonly string[] {
  return proof.kind === "secret"
    ? [proof.secret]
    : [proof.privateKey, ...proof.privateKey.split(/\r?\n/).filter((line) => /^[A-Za-z0-9+/=]{16,}$/.test(line))];
}
