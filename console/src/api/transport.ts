// How the page calls the service: Connect, in binary, at the origin and prefix that served the page.

import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { access, adminToken, askForKey } from "./access.ts";

/** The address of the service, without a slash at its end. */
export const serviceUrl: string = new URL("..", document.baseURI).href.replace(/\/$/, "");
/** The path of the console, without a slash at its end. */
export const consoleBase: string = new URL(document.baseURI).pathname.replace(/\/$/, "");

/** A call that does not answer in this time has failed. Streams have no limit. */
const callMs = 30_000;

/** Calls with the key of this page. */
export const transport = makeTransport(() => access.get().apiKey, askForKey);

/** A view may call at the moment in which the page forgets the token: the call would reach the service without one. */
const requireAdminToken: Interceptor = (next) => (request) => {
  if (adminToken.get() === undefined) {
    throw new ConnectError("missing admin token: enter it under Credentials", Code.Unauthenticated);
  }
  return next(request);
};

/** Calls of the operator. A refusal keeps the page: the view says that it needs the admin token. */
export const adminTransport = makeTransport(adminToken.get, () => undefined, [requireAdminToken]);

/** Calls with one key, without asking for another: to check a key before it is used. */
export function transportWith(apiKey: string) {
  return makeTransport(
    () => apiKey,
    () => undefined,
  );
}

function makeTransport(
  readToken: () => string | undefined,
  onRefused: () => void,
  checks: readonly Interceptor[] = [],
) {
  const authenticate: Interceptor = (next) => async (request) => {
    const token = readToken();
    if (token !== undefined) {
      request.header.set("authorization", `Bearer ${token}`);
    }
    try {
      return await next(request);
    } catch (error) {
      if (ConnectError.from(error).code === Code.Unauthenticated && readToken() === token) {
        onRefused();
      }
      throw error;
    }
  };
  return createConnectTransport({
    baseUrl: serviceUrl,
    useBinaryFormat: true,
    defaultTimeoutMs: callMs,
    interceptors: [...checks, watchStreams(onRefused), authenticate],
  });
}

/** A refused stream fails while it is read, after its call has returned. */
function watchStreams(onRefused: () => void): Interceptor {
  return (next) => async (request) => {
    const response = await next(request);
    if (!response.stream) {
      return response;
    }
    return { ...response, message: watch(response.message, onRefused) };
  };
}

async function* watch<T>(messages: AsyncIterable<T>, onRefused: () => void): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    if (ConnectError.from(error).code === Code.Unauthenticated) {
      onRefused();
    }
    throw error;
  }
}
