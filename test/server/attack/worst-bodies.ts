// The worst bodies that the limits allow, for every route.

import { gzipSync } from "node:zlib";
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { Access } from "#gen/runnel/options/v1/options_pb.js";
import { services } from "../../../src/app/protocols.ts";
import { accessOf } from "../../../src/platform/base/access.ts";
import { frame } from "../../conformance/grpc-frames.ts";
import { type Route, routes } from "../../harness/routes.ts";

export interface WorstBody {
  readonly what: string;
  readonly httpMethod: string;
  readonly path: string;
  readonly contentType: string;
  /** The header that names the compression of a body, and its value. */
  readonly encoding?: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly isPublic: boolean;
}

const list = (length: number, item: string): string => `[${Array(length).fill(item).join(",")}]`;

/** For each route that reads a body: as many values as count as one call, in the field where a value costs the most. */
export function mediumBodies(): readonly WorstBody[] {
  return routes
    .filter(({ takesBody }) => takesBody)
    .flatMap((route) => {
      const json = Buffer.from(`{"${fieldOf(route)}":${list(4_000, "{}")},"zzz":"${"\\u0061".repeat(1_000)}"}`);
      return [{ ...route, what: `${route.httpMethod} ${route.path}`, body: enveloped(route.contentType, json) }];
    });
}

/** The field of the route's request that holds a list of messages; `messages` for routes without a method of the contract. */
function fieldOf({ path }: Route): string {
  const method = services
    .flatMap(({ methods }) => methods)
    .find((each) => path === `/${each.parent.typeName}/${each.name}`);
  return (method && findList(method.input)?.jsonName) ?? "messages";
}

function findList(desc: DescMessage): DescField | undefined {
  return desc.fields.find((field) => field.fieldKind === "list" && field.message !== undefined);
}

function enveloped(contentType: string, message: Buffer): Buffer {
  return contentType.includes("connect+") ? frame(message) : message;
}

const mib = 1_048_576;
const message = '{"role":"user","text":"hi"}';
const chatMessage = '{"role":"user","content":"hi"}';

function heavy(
  what: string,
  path: string,
  body: string | Buffer,
  contentType = "application/json",
  encoding: Readonly<Record<string, string>> = {},
): WorstBody {
  const isPublic = services.some(({ methods, typeName }) =>
    methods.some((method) => `/${typeName}/${method.name}` === path && accessOf(method) === Access.PUBLIC),
  );
  return {
    what,
    httpMethod: "POST",
    path,
    contentType,
    encoding,
    body: Buffer.from(body as string),
    isPublic: isPublic || path.startsWith("/api/threads"),
  };
}

/** The largest bodies, one of each kind. */
export function heavyBodies(): readonly WorstBody[] {
  const send = "/runnel.v1.SessionService/SendMessage";
  const tail = "/runnel.v1.RunService/TailRun";
  const health = "/grpc.health.v1.Health/Check";
  const chat = "/v1/chat/completions";
  const emptyMessages = Buffer.alloc(480_000).fill(Buffer.from([0x22, 0]));
  const unknownFields = gzipSync(Buffer.alloc(4 * mib).fill(Buffer.from([0x78, 0])));
  return [
    heavy(
      "10 MB of escapes",
      "/v1/sessions",
      `{"agent":{"name":"n"},"zzz":"${"\\u0061".repeat((10 * mib - 64) / 6)}"}`,
    ),
    heavy("lines", "/v1/sessions/x/messages", JSON.stringify({ message: `${"x".repeat(78)}\n`.repeat(48_000) })),
    heavy("messages over REST", "/v1/sessions/x/messages", `{"messages":${list(80_000, message)}}`),
    heavy("messages over Connect", send, `{"sessionId":"x","messages":${list(80_000, message)}}`),
    heavy("too many messages over Connect", send, `{"sessionId":"x","messages":${list(1_300_000, "{}")}}`),
    heavy("empty messages", send, emptyMessages, "application/proto"),
    heavy("compressed empty messages", send, gzipSync(emptyMessages), "application/proto", {
      "content-encoding": "gzip",
    }),
    heavy("compressed unknown fields", send, unknownFields, "application/proto", { "content-encoding": "gzip" }),
    heavy("compressed fields of a stream", tail, frame(unknownFields, { flag: 1 }), "application/connect+proto", {
      "connect-content-encoding": "gzip",
    }),
    heavy(
      "a second message without credentials",
      health,
      Buffer.concat([frame(Buffer.alloc(0)), frame(unknownFields, { flag: 1 })]),
      "application/grpc-web+proto",
      { "grpc-encoding": "gzip" },
    ),
    heavy("too many empty messages", send, Buffer.alloc(4 * mib).fill(Buffer.from([0x22, 0])), "application/proto"),
    heavy("members", "/v1/sessions/x/messages", `{"message":"x","annotations":{${members(200_000)}}}`),
    heavy("chat messages", chat, `{"model":"demo","messages":${list(80_000, chatMessage)}}`),
    heavy("too many chat messages", chat, `{"model":"demo","messages":${list(300_000, chatMessage)}}`),
    heavy("metadata", chat, `{"model":"demo","messages":[${chatMessage}],"metadata":{${members(800_000)}}}`),
    heavy("empty objects", chat, `{"model":"demo","messages":${list(3_300_000, "{}")}}`),
    heavy("depth", chat, `{"model":"demo","tools":${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
    heavy(
      "AG-UI",
      "/v1/ag-ui/x",
      `{"threadId":"t","runId":"r","messages":${list(60_000, '{"id":"1","role":"user"}')}}`,
    ),
    heavy("a job", "/api/v1/jobs", `{"x":${list(100_000, '{"a":1}')}}`),
    heavy("a forum write", "/api/threads", `{"zzz":"${"\\u0061".repeat(mib / 6 - 10)}"}`),
    heavy("a forum write of values", "/api/threads", `{"zzz":${list(200_000, "1")}}`),
  ];
}

function members(count: number): string {
  return Array.from({ length: count }, (_, index) => `"k${index}":1`).join(",");
}
