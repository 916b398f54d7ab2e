// Answers a REST call of a stream of google.api.HttpBody: its pieces, one after another, are the body. The first piece has the type.
// Never reads ahead of the client.

import type { Message } from "@bufbuild/protobuf";
import { create as disposition } from "content-disposition";
import type { RestCallNotes } from "../../platform/base/rest-call.ts";
import { type CallOptions, callStream } from "../in-process/call.ts";
import { readHttpBody } from "./http-body.ts";
import { breakOff, endStream, type RestResponse, sendEmpty, setHead, writePiece } from "./respond.ts";
import type { Target } from "./target.ts";

/**
 * Answers the call. Rejects with the failure of the call: before the first piece nothing has been sent, afterwards the connection
 * breaks off, so that the client does not take a part for the whole.
 */
export async function answerDownload(
  { method, handler, responseBytes: place = "whole" }: Pick<Target, "method" | "handler" | "responseBytes">,
  message: Message,
  response: RestResponse,
  { notes, ...options }: CallOptions & { readonly notes: RestCallNotes },
): Promise<void> {
  const outputs = callStream(handler, message, options);
  let isOpen = false;
  try {
    for await (const output of outputs) {
      const { contentType, data } = readHttpBody(method.output, output, place);
      if (!isOpen) {
        setHead(response, 200, { ...headersFor(notes), "content-type": contentType });
        isOpen = true;
      }
      await writePiece(response, data);
    }
  } catch (error) {
    if (isOpen) {
      breakOff(response);
    }
    throw error;
  }
  if (isOpen) {
    endStream(response, "");
  } else {
    sendEmpty(response);
  }
}

/** The bytes may be a page that attacks its readers: a browser saves them, guesses no type, and runs nothing in them. */
function headersFor({ fileName }: RestCallNotes): Readonly<Record<string, string>> {
  return {
    "content-disposition": disposition(fileName),
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox",
    "cache-control": "no-store",
  };
}
