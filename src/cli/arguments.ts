// What commands take, checked where it is typed.

import { InvalidArgumentError } from "commander";

export function readPort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65_535) {
    return port;
  }
  throw new InvalidArgumentError("expected a port from 0 to 65535");
}

export function readUrl(text: string): string {
  const protocol = URL.parse(text)?.protocol;
  if (protocol === "http:" || protocol === "https:") {
    return text;
  }
  throw new InvalidArgumentError("expected a URL such as http://127.0.0.1:8090");
}

export function readSequence(text: string): bigint {
  if (/^\d{1,15}$/.test(text)) {
    return BigInt(text);
  }
  throw new InvalidArgumentError("expected a sequence: 0, 1, 2 …");
}
