// Hand-written HTTP/2, for peers that do what no client library does: builds frames, and parses received ones.

import { constants } from "node:http2";

export const frameTypes = { data: 0x0, headers: 0x1, reset: 0x3, settings: 0x4, windowUpdate: 0x8 } as const;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** The maximum window: the server may send this much without an update. */
const windowMax = 0x7fff_ffff;

const headBytes = 9;
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** The client preface with its empty SETTINGS frame: all that a server needs to open a session. */
export const hello = Buffer.concat([preface, frame({ type: frameTypes.settings, streamId: 0 })]);

/** Returns a client preface that lets the server send without limit. */
export function helloWithoutWindow(): Buffer {
  const initialWindowSize = 4;
  const setting = Buffer.alloc(6);
  setting.writeUInt16BE(initialWindowSize, 0);
  setting.writeUInt32BE(windowMax, 2);
  const increment = Buffer.alloc(4);
  increment.writeUInt32BE(windowMax - 65_535, 0);
  return Buffer.concat([
    preface,
    frame({ type: frameTypes.settings, streamId: 0, payload: setting }),
    frame({ type: frameTypes.windowUpdate, streamId: 0, payload: increment }),
  ]);
}

/** Returns the head of a GET, or of a POST whose body follows. */
export function request(streamId: number, method: "GET" | "POST"): Buffer {
  // By their numbers in the static table: :method, :scheme http and :path /; then :authority "test".
  const methodIndex = { GET: 0x82, POST: 0x83 }[method];
  const payload = Buffer.concat([Buffer.from([methodIndex, 0x86, 0x84, 0x41, 4]), Buffer.from("test")]);
  const flags = constants.NGHTTP2_FLAG_END_HEADERS | (method === "GET" ? constants.NGHTTP2_FLAG_END_STREAM : 0);
  return frame({ type: frameTypes.headers, flags, streamId, payload });
}

/** Returns the head of a GET with the flag that more will follow. */
export function beginningOfHead(streamId: number): Buffer {
  return frame({ type: frameTypes.headers, streamId, payload: Buffer.from([0x82, 0x86, 0x84]) });
}

export function data(streamId: number, payload: Buffer, { isLast }: { readonly isLast: boolean }): Buffer {
  return frame({ type: frameTypes.data, flags: isLast ? constants.NGHTTP2_FLAG_END_STREAM : 0, streamId, payload });
}

export function cancel(streamId: number): Buffer {
  return frame({ type: frameTypes.reset, streamId, payload: Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]) });
}

/** Returns the complete frames at the beginning of `bytes`. */
export function readFrames(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  let at = 0;
  while (at + headBytes <= bytes.length) {
    const end = at + headBytes + bytes.readUIntBE(at, 3);
    if (end > bytes.length) {
      break;
    }
    frames.push({
      type: bytes.readUInt8(at + 3),
      flags: bytes.readUInt8(at + 4),
      streamId: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + headBytes, end),
    });
    at = end;
  }
  return frames;
}

/** Returns the codes of the RST_STREAM frames of one stream. */
export function resetsOf(frames: readonly Frame[], streamId: number): number[] {
  return frames
    .filter((each) => each.type === frameTypes.reset && each.streamId === streamId)
    .map(({ payload }) => payload.readUInt32BE(0));
}

/** Returns true once the peer has ended the stream. */
export function hasEnded(frames: readonly Frame[], streamId: number): boolean {
  return frames.some(
    ({ type, flags, streamId: id }) =>
      id === streamId &&
      (type === frameTypes.data || type === frameTypes.headers) &&
      (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0,
  );
}

function frame({
  type,
  flags = 0,
  streamId,
  payload = Buffer.alloc(0),
}: {
  readonly type: number;
  readonly flags?: number;
  readonly streamId: number;
  readonly payload?: Buffer;
}): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}
