// How the page calls the service: Connect, in binary, at the origin and prefix that served the page.

import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { access, adminToken, askForKey } from "./access.ts";

/** The address of the service, without a slash at its end. */
export const serviceUrl: string = new URL("..", document.baseURI).href.replace(/\/$/, "");
/** The path of the console, without a slash at its end. */
export const consoleBase: string = new URL(document.baseURI).pathname.replace(/\/$/, "");

/** A call that does not answer in this time has failed. Streams have no limit. */
const callMs = 30_000;

/** Calls with the key of this page. */
export const transport = makeTransport(
  () => access.get().apiKey,
  (error, token) => {
    askForKey(whyRefused(error));
    return inWords(error, token);
  },
);

/** A view may call at the moment in which the page forgets the token: the call would reach the service without one. */
const requireAdminToken: Interceptor = (next) => (request) => {
  if (adminToken.get() === undefined) {
    throw new ConnectError("missing admin token: enter it under Credentials", Code.Unauthenticated);
  }
  return next(request);
};

/** Calls of the operator. A refusal keeps the page: the view says that it needs the admin token. */
export const adminTransport = makeTransport(adminToken.get, (error) => error, [requireAdminToken]);

/** Calls with one key, without asking for another: to check a key before it is used. */
export function transportWith(apiKey: string) {
  return makeTransport(() => apiKey, inWords);
}

/** The service's words are for programs, which may sign their calls. */
function inWords(error: ConnectError, token: string | undefined): ConnectError {
  const text =
    token === undefined
      ? "this page has no API key: enter one"
      : `the service does not accept this API key: it ${whyRefused(error)}`;
  return new ConnectError(text, error.code, error.metadata, undefined, error);
}

/** Example: `was revoked`. */
function whyRefused(error: ConnectError): string {
  switch (error.findDetails(ErrorInfoSchema)[0]?.metadata.token_state) {
    case "revoked":
      return "was revoked";
    case "expired":
      return "has expired";
    default:
      return "is unknown, was revoked or has expired";
  }
}

/** Takes the error of a refused call, and returns the error that its caller gets. */
type OnRefused = (error: ConnectError, token: string | undefined) => ConnectError;

function makeTransport(readToken: () => string | undefined, onRefused: OnRefused, checks: readonly Interceptor[] = []) {
  const authenticate: Interceptor = (next) => async (request) => {
    const token = readToken();
    if (token !== undefined) {
      request.header.set("authorization", `Bearer ${token}`);
    }
    try {
      return await next(request);
    } catch (error) {
      // A call with a key that the page no longer has says nothing about the one that it has.
      throw readToken() === token ? refused(error, onRefused, token) : error;
    }
  };
  return createConnectTransport({
    baseUrl: serviceUrl,
    useBinaryFormat: true,
    defaultTimeoutMs: callMs,
    interceptors: [...checks, watchStreams(readToken, onRefused), authenticate],
  });
}

function refused(error: unknown, onRefused: OnRefused, token: string | undefined): unknown {
  const failure = ConnectError.from(error);
  return failure.code === Code.Unauthenticated ? onRefused(failure, token) : error;
}

/** A refused stream fails while it is read, after its call has returned. */
function watchStreams(readToken: () => string | undefined, onRefused: OnRefused): Interceptor {
  return (next) => async (request) => {
    const token = readToken();
    const response = await next(request);
    if (!response.stream) {
      return response;
    }
    return { ...response, message: watch(response.message, (error) => refused(error, onRefused, token)) };
  };
}

async function* watch<T>(messages: AsyncIterable<T>, explain: (error: unknown) => unknown): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    throw explain(error);
  }
}
