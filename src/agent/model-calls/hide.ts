// Takes secrets out of what goes to a provider and comes back.

/** Members of bodies that hold credentials of servers to which a provider connects itself. The end of a cut body ends one, too. */
const credentials =
  /"(authorization(?:_token)?|[\w-]{0,64}(?:api[_-]?key|secret|password))"(\s{0,9}:\s{0,9})"(?:[^"\\]|\\.)*(?:"|\\?$)/gi;
/** The headers for such a server are all its own. */
const headers = /"(headers)"(\s{0,9}:\s{0,9})\{[^{}]*(?:\}|$)/gi;
const nameOfSecret = /auth|key|token|secret|cookie/i;

/** Returns a body without the credentials in it. Everything else stays as it was sent. */
export function hideInBody(body: string): string {
  return body.replace(credentials, '"$1"$2"[redacted]"').replace(headers, '"$1"$2"[redacted]"');
}

/** Returns the headers that carry no credentials, one a line. */
export function plainHeaders(headers: Readonly<Record<string, string | readonly string[] | undefined>>): string {
  const plain = Object.entries(headers).filter(([name, value]) => value !== undefined && !nameOfSecret.test(name));
  return plain.map(([name, value]) => `${name}: ${value}`).join("\n");
}
