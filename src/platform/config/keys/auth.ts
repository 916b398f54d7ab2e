// Settings of authentication: `auth`.

import { type AuthorizationServer, readAuthorizationServer } from "../authorization-server.ts";
import { Expected, type Key, makeKey, type Wrong } from "../key.ts";
import { flag, secret, token } from "../kinds.ts";
import { keyCharsMin, readNamedKeys } from "../named-keys.ts";

const documented = true;

/** A client and its key, which is both the bearer token and the secret of its signatures. */
export interface ClientKey {
  readonly client: string;
  readonly key: string;
}

/** The settings of authentication. */
export const authKeys = {
  authHmacSecret: secret({
    path: "auth.hmac_secret",
    about: "Shared secret for request signatures of all callers.",
    documented,
  }),
  authHmacSecretPrevious: secret({
    path: "auth.hmac_secret_previous",
    about: "Previous shared secret, valid while callers change to the new one.",
  }),
  authHmacV1: flag({
    path: "auth.hmac_v1",
    fallback: true,
    about:
      "Whether signatures of the Agent Runner document (v1) are valid; they cover neither method, path nor client.",
  }),
  authApiKeys: clientKeys(),
  authAdminToken: token(
    {
      path: "auth.admin_token",
      about: "Bearer token of administration and debug calls; without it the service refuses them.",
    },
    keyCharsMin,
  ),
  authAuthorizationServer: authorizationServer(),
  authCell: cellName(),
} as const;

/** The name is in keys and tickets, so that a router can read it: docs/operations/cells.md. */
function cellName(): Key<string> {
  const about =
    "Name of this cell of a deployment in several cells, such as `eu1`; keys and tickets that it makes begin with `rk_eu1.` and `rt_eu1.`.";
  const row = { path: "auth.cell", fallback: "", about };
  return makeKey(row, (text) =>
    /^[a-z0-9]{1,16}$/.test(text) ? text : new Expected("1 to 16 lower-case letters and digits"),
  );
}

function authorizationServer(): Key<AuthorizationServer | undefined> {
  const about =
    'Authorization server whose access tokens callers may send: `{"issuer": "https://id.example", "jwks_url": "https://id.example/jwks", ' +
    '"resource": "https://runnel.example/mcp", "clients": {"4711": "billing"}}`, with the URL of `/mcp` as clients call it, and the clients ' +
    "by the subjects of tokens.";
  const row = { path: "auth.authorization_server", fallback: undefined, about };
  return makeKey<AuthorizationServer | undefined>(row, (text) =>
    text === ""
      ? undefined
      : (readAuthorizationServer(text) ??
        new Expected('such as {"issuer": …, "jwks_url": …, "resource": …, "clients": {"subject": "client"}}')),
  );
}

function clientKeys(): Key<readonly ClientKey[]> {
  const about =
    "Keys of clients, `client=key`, one a line; several lines of one client overlap while a key is replaced.";
  const row = { path: "auth.api_keys", fallback: [] as readonly ClientKey[], about };
  return { ...makeKey(row, readClientKeys), separator: "\n", secret: true };
}

function readClientKeys(text: string): readonly ClientKey[] | Wrong {
  const read = readNamedKeys(text)?.map(({ name, key }) => ({ client: name, key }));
  return read ?? new Expected(`lines of client=key, with keys of at least ${keyCharsMin} characters`);
}
