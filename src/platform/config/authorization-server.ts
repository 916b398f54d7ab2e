// Reads the authorization server whose access tokens the service accepts:
// `{"issuer": "https://id.example", "jwks_url": "https://id.example/jwks", "resource": "https://runnel.example/mcp", "clients": {"4711": "billing"}}`.

import { isObject, parseObject } from "../base/json/parse-object.ts";
import { isEmpty, isText } from "./program-address.ts";

/** An authorization server, and what its tokens are good for. */
export interface AuthorizationServer {
  /** Its issuer identifier, exactly as its tokens have it. */
  readonly issuer: string;
  /** Where its public keys are. */
  readonly jwksUrl: string;
  /** The URL of `/mcp` as clients call it: the audience of tokens for this service. */
  readonly resource: string;
  /** The clients by the subjects (`sub`) of tokens. A token of another subject is refused. */
  readonly clients: ReadonlyMap<string, string>;
}

/** Returns the server; undefined for an invalid text. */
export function readAuthorizationServer(text: string): AuthorizationServer | undefined {
  const { issuer, jwks_url: jwksUrl, resource, clients, ...others } = parseObject(text) ?? {};
  const isRight =
    isUrl(issuer) && isUrl(jwksUrl) && isPrivate(new URL(jwksUrl)) && isUrl(resource) && !resource.includes("#");
  if (!isRight || !isObject(clients) || !isEmpty(others)) {
    return undefined;
  }
  const named = Object.entries(clients);
  const known = named.filter((entry): entry is [string, string] => isText(entry[0]) && isText(entry[1]));
  return named.length > 0 && known.length === named.length
    ? { issuer, jwksUrl, resource, clients: new Map(known) }
    : undefined;
}

function isUrl(value: unknown): value is string {
  return isText(value) && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

/** Whether no one on the way can put other keys in the place of the server's. */
function isPrivate({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

/** Returns where clients find out which server gives tokens for the resource (RFC 9728, section 3.1). */
export function metadataUrlOf({ resource }: AuthorizationServer): URL {
  const { origin, pathname, search } = new URL(resource);
  return new URL(`${origin}/.well-known/oauth-protected-resource${pathname === "/" ? "" : pathname}${search}`);
}

/** Prints the metadata of the protected resource (RFC 9728, section 2). */
export function printMetadata({ resource, issuer }: AuthorizationServer): string {
  return JSON.stringify({
    resource,
    authorization_servers: [issuer],
    bearer_methods_supported: ["header"],
    resource_name: "Runnel",
  });
}
