// grpc.reflection, v1 and v1alpha: the descriptors of the contract for tools such as buf curl and grpcurl. The two versions
// differ only in their package, so one implementation serves both.

import type { DescFile, DescService } from "@bufbuild/protobuf";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import type { ServerReflection } from "#gen/grpc/reflection/v1/reflection_pb.js";
import type { ServerReflection as ServerReflectionV1Alpha } from "#gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import { Interrupt, interrupted } from "../../platform/base/interrupt.ts";
import { collectFiles, type DescriptorIndex, indexDescriptors, serializeFile } from "./descriptor-index.ts";

/** The dependencies of the reflection service. */
export interface ReflectionDeps {
  /** The listed services. Clients can also request their files and all imports. */
  readonly services: readonly DescService[];
  /** Aborts when this replica stops serving: a client may hold its stream open without a request. */
  readonly drain: AbortSignal;
}

/** The handlers of both versions. */
export type ReflectionService = ServiceImpl<typeof ServerReflection> & ServiceImpl<typeof ServerReflectionV1Alpha>;

/** Returns the handlers of server reflection. */
export function createReflectionService({ services, drain }: ReflectionDeps): ReflectionService {
  const index = indexDescriptors(services);
  const serverReflectionInfo = <R extends Request>(requests: AsyncIterable<R>): AsyncGenerator<Response<R>> =>
    answerAll(index, endAt(drain, requests));
  return { serverReflectionInfo };
}

/**
 * The maximum number of requests on one stream: more than the contract has symbols, so that a client may request each of them.
 */
const requestsMax = 5_000;
/**
 * The maximum length of a name, far longer than any name in the contract. An answer repeats its request, so this limits the
 * answer too.
 */
const nameCharsMax = 1_024;

/** The request of both versions, without their type names. */
interface Request {
  readonly host: string;
  readonly messageRequest: Question;
}

type Question =
  | { readonly case: "fileByFilename"; readonly value: string }
  | { readonly case: "fileContainingSymbol"; readonly value: string }
  | {
      readonly case: "fileContainingExtension";
      readonly value: { readonly containingType: string; readonly extensionNumber: number };
    }
  | { readonly case: "allExtensionNumbersOfType"; readonly value: string }
  | { readonly case: "listServices"; readonly value: string }
  | { readonly case: undefined; readonly value?: undefined };

type Answer =
  | { case: "fileDescriptorResponse"; value: { fileDescriptorProto: Uint8Array[] } }
  | { case: "allExtensionNumbersResponse"; value: { baseTypeName: string; extensionNumber: number[] } }
  | { case: "listServicesResponse"; value: { service: { name: string }[] } }
  | { case: "errorResponse"; value: { errorCode: number; errorMessage: string } };

interface Response<R> {
  validHost: string;
  originalRequest: R;
  messageResponse: Answer;
}

async function* answerAll<R extends Request>(
  index: DescriptorIndex,
  requests: AsyncIterable<R>,
): AsyncGenerator<Response<R>> {
  const sent = new Set<DescFile>();
  let count = 0;
  for await (const request of requests) {
    count += 1;
    if (count > requestsMax) {
      throw new Fault("RATE_LIMITED", `a reflection stream answers ${requestsMax} requests: open another one`);
    }
    assertShort(request);
    yield {
      validHost: request.host,
      originalRequest: request,
      messageResponse: answer(index, request.messageRequest, sent),
    };
  }
}

function assertShort({ host, messageRequest: { value = "" } }: Request): void {
  const name = typeof value === "string" ? value : value.containingType;
  if (host.length > nameCharsMax || name.length > nameCharsMax) {
    throw new Fault("INVALID_ARGUMENT", `a name in a reflection request has at most ${nameCharsMax} characters`);
  }
}

function answer(index: DescriptorIndex, question: Question, sent: Set<DescFile>): Answer {
  switch (question.case) {
    case "fileByFilename":
      return fileToProto(index.findFile(question.value), `file ${question.value}`, sent);
    case "fileContainingSymbol":
      return fileToProto(index.findFileOfSymbol(question.value), `symbol ${question.value}`, sent);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value;
      const file = index.findFileOfExtension(containingType, extensionNumber);
      return fileToProto(file, `extension ${extensionNumber} of ${containingType}`, sent);
    }
    case "allExtensionNumbersOfType":
      return numbersToProto(question.value, index.listExtensionNumbers(question.value));
    case "listServices":
      return { case: "listServicesResponse", value: { service: index.serviceNames.map((name) => ({ name })) } };
    case undefined:
      return refuse(Code.InvalidArgument, "the request is of an unknown kind");
    default:
      return question satisfies never;
  }
}

/** Returns the requested file first and always. Of its imports it adds only those that this stream has not sent yet. */
function fileToProto(file: DescFile | undefined, asked: string, sent: Set<DescFile>): Answer {
  if (file === undefined) {
    return refuse(Code.NotFound, `not found: ${asked}`);
  }
  const files = collectFiles([file])
    .reverse()
    .filter((each) => each === file || !sent.has(each));
  for (const each of files) {
    sent.add(each);
  }
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto: files.map(serializeFile) } };
}

function numbersToProto(type: string, numbers: readonly number[] | undefined): Answer {
  return numbers === undefined
    ? refuse(Code.NotFound, `not found: message ${type}`)
    : { case: "allExtensionNumbersResponse", value: { baseTypeName: type, extensionNumber: [...numbers] } };
}

/** Returns an error response; the stream stays open for further requests. The protocol wants the number of the gRPC status. */
function refuse(code: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode: code, errorMessage } };
}

/** Passes on messages until they end. A drain ends them with RESUME while the stream waits for a message. */
async function* endAt<T>(drain: AbortSignal, messages: AsyncIterable<T>): AsyncGenerator<T> {
  const interrupt = new Interrupt();
  const fire = (): void => interrupt.fire();
  drain.addEventListener("abort", fire);
  if (drain.aborted) {
    fire();
  }
  const iterator = messages[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await interrupt.guard(iterator.next());
      if (next === interrupted) {
        throw new Fault("RESUME", "this replica is stopping: ask again", { retryAfterMs: 0 });
      }
      if (next.done === true) {
        return;
      }
      yield next.value;
    }
  } finally {
    drain.removeEventListener("abort", fire);
    // The iterator ends with the call, so there is nothing to wait for.
    void iterator.return?.().catch(() => {});
  }
}
