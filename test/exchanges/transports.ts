// The transports in which programs carry the texts of exchanges: plain text and JSON over REST, and the clients of RPCs. Answers have
// the plain form of the conformance suite, refusals are one class.

import { create, type DescMessage, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { type ExchangeSession, ExchangeSessionSchema } from "#gen/runnel/exchange/v1/exchange_pb.js";
import {
  ExchangeService,
  ImportExchangeRequestSchema,
  type ListExchangesRequestSchema,
  StartExchangeRequestSchema,
} from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { openConnect } from "../conformance/connect-surface.ts";
import { openGrpc } from "../conformance/grpc-surface.ts";
import { plain, plainJson } from "../conformance/plain.ts";
import { refused } from "../conformance/rest-surface.ts";
import type { RpcClient } from "../conformance/rpc-surface.ts";
import type { Plain } from "../conformance/surface.ts";
import { connectFetchTransport, grpcWebTransport } from "../conformance/transports.ts";
import { credentialsOf } from "../harness/credentials.ts";
import type { TestService } from "../harness/service.ts";

export interface Started {
  readonly exchange_id: string;
  readonly session_id: string;
  readonly sequence: number;
  readonly run_id: string;
}

export interface Answered {
  readonly results: readonly Plain[];
  readonly sequence: number;
  readonly is_complete: boolean;
}

export interface Inbox {
  readonly exchangeId: string;
  readonly text: string;
  readonly sequence?: number;
}

export interface Exchanges {
  start(request: MessageInitShape<typeof StartExchangeRequestSchema>): Promise<Started>;
  get(exchangeId: string): Promise<Plain>;
  list(request: MessageInitShape<typeof ListExchangesRequestSchema>): Promise<Plain>;
  readOutbox(exchangeId: string): Promise<string>;
  submit(inbox: Inbox): Promise<Answered>;
  parse(text: string): Promise<Plain>;
  export(exchangeId: string): Promise<Plain>;
  import(request: MessageInitShape<typeof ImportExchangeRequestSchema>): Promise<Started>;
}

export interface Transport {
  readonly name: string;
  readonly isRest: boolean;
  /** As the tests' own client, or as the given one. */
  readonly open: (service: TestService, clientId?: string) => Exchanges;
}

export const transports: readonly Transport[] = [
  rest("REST, plain text", "text/plain"),
  rest("REST, JSON", "application/json"),
  rpc("gRPC", ({ target }, headers) => openGrpc(target, headers)),
  rpc("Connect by fetch, GET", ({ url }, headers) => openConnect(connectFetchTransport(url), headers)),
  rpc("gRPC-Web, HTTP/1.1", ({ url }, headers) => openConnect(grpcWebTransport(url), headers)),
];

export function findTransport(name: string): Transport {
  const way = transports.find((each) => each.name === name);
  if (way === undefined) {
    throw new Error(`no way ${name}`);
  }
  return way;
}

type Headers = Readonly<Record<string, string>>;

function rpc(name: string, openClient: (service: TestService, headers: Headers) => RpcClient): Transport {
  return {
    name,
    isRest: false,
    open: (service, clientId) => rpcExchanges(openClient(service, credentialsOf(clientId))),
  };
}

function rpcExchanges({ call }: RpcClient): Exchanges {
  const { method } = ExchangeService;
  return {
    start: async (request) => plain(method.startExchange.output, await call(method.startExchange, request)),
    get: async (exchangeId) => {
      const answer = await call(method.getExchange, { exchangeId });
      return plain<{ exchange: Plain }>(method.getExchange.output, answer).exchange;
    },
    list: async (request) => plain(method.listExchanges.output, await call(method.listExchanges, request)),
    readOutbox: async (exchangeId) => (await call(method.getOutbox, { exchangeId })).text,
    submit: async (inbox) => plain(method.submitInbox.output, await call(method.submitInbox, inbox)),
    parse: async (text) => plain(method.parseInbox.output, await call(method.parseInbox, { text })),
    export: async (exchangeId) => {
      const { session } = await call(method.exportExchange, { exchangeId });
      return sessionJson(session);
    },
    import: async (request) => plain(method.importExchange.output, await call(method.importExchange, request)),
  };
}

type Form = "text/plain" | "application/json";

function rest(name: string, form: Form): Transport {
  return {
    name,
    isRest: true,
    open: ({ url }, clientId) => restExchanges(url, form, credentialsOf(clientId)),
  };
}

function restExchanges(url: string, form: Form, credentials: Headers): Exchanges {
  async function ask(path: string, init: RequestInit = {}): Promise<string> {
    const headers = { accept: form, ...credentials, ...init.headers };
    const response = await fetch(`${url}/v1/exchanges${path}`, { ...init, headers });
    if (!response.ok) {
      throw await refused(response);
    }
    return await response.text();
  }
  const get = async <T>(path: string): Promise<T> => plainJson(await ask(path));
  const post = async <T>(path: string, body: string, type: Form = "application/json"): Promise<T> =>
    plainJson(await ask(path, { method: "POST", body, headers: { "content-type": type } }));
  const pathOf = (exchangeId: string): string => `/${encodeURIComponent(exchangeId)}`;
  const isText = form === "text/plain";
  return {
    start: (request) => post("", JSON.stringify(jsonOf(StartExchangeRequestSchema, request))),
    get: (exchangeId) => get(pathOf(exchangeId)),
    list: (request) => {
      const query = jsonOf(ExchangeService.method.listExchanges.input, request) as Record<string, string>;
      return get(`?${new URLSearchParams(query)}`);
    },
    readOutbox: async (exchangeId) => {
      const answer = await ask(`${pathOf(exchangeId)}/outbox`);
      return isText ? answer : JSON.parse(answer).text;
    },
    submit: ({ exchangeId, text, sequence }) => {
      const path = `${pathOf(exchangeId)}/inbox`;
      return isText
        ? post(sequence === undefined ? path : `${path}?sequence=${sequence}`, text, form)
        : post(path, JSON.stringify({ text, ...(sequence !== undefined && { sequence }) }));
    },
    parse: (text) => post(":parse", isText ? text : JSON.stringify({ text }), form),
    export: (exchangeId) => get(`${pathOf(exchangeId)}/session`),
    import: (request) => post(":import", importJson(request)),
  };
}

function jsonOf<S extends DescMessage>(schema: S, request: MessageInitShape<S>): Plain {
  return toJson(schema, create(schema, request), { useProtoFieldName: true }) as Plain;
}

/** The session has the same form as in files. */
function importJson(request: MessageInitShape<typeof ImportExchangeRequestSchema>): string {
  const { session } = create(ImportExchangeRequestSchema, request);
  const json = jsonOf(ImportExchangeRequestSchema, request);
  return JSON.stringify({ ...json, ...(session && { session: sessionJson(session) }) });
}

function sessionJson(session: ExchangeSession | undefined): Plain {
  return session === undefined ? {} : (toJson(ExchangeSessionSchema, session) as Plain);
}
