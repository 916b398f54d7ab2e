// The signal that ends the work for a client that leaves.

import { Code, ConnectError } from "@connectrpc/connect";
import { isGone, type RestResponse } from "./respond.ts";

/** Returns a signal that aborts when the client leaves before it has the answer. */
export function signalOf(response: RestResponse): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => controller.abort(clientLeft));
  if (isGone(response)) {
    controller.abort(clientLeft);
  }
  return controller.signal;
}

/** Shared by all requests: without a reason Node would create an exception with its stack for each request. */
const clientLeft = new ConnectError("the client left", Code.Canceled);
