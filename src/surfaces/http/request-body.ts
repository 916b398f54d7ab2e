// Reads bodies of requests, with a limit for each body and for all together.
//
// B1  The memory for bodies is limited, regardless of what clients send: for bodies that arrive, and for those that wait for
//     their turn.
// B2  Beyond the limit the body with the oldest progress is dropped, not the one that arrives. So a body that stalls or
//     trickles makes room for bodies that complete.
// B3  Small bodies and large bodies have separate limits, so that neither kind displaces the other.

import { envelopePrefixBytes, FirstEnvelope, isEnvelopedType } from "../../platform/base/envelope.ts";
import { Fault } from "../../platform/base/fault.ts";
import type { Request } from "./message.ts";

/** The maximum size of a small body. Most calls have less. Such a body takes a few packets, so it is held for moments only. */
const smallBytesMax = 16_384;
/** A thousand small bodies. */
const allSmallBytesMax = 1_024 * smallBytesMax;
/** Six of the largest bodies that the documented settings allow. */
const allLargeBytesMax = 64 * 1_048_576;
/** Fewer bytes than this at once are no progress, so a body that trickles ages. */
const progressBytes = 16_384;

/** A body that was read. Its bytes count for the limits until it is released or dropped. */
export interface HeldBody {
  readonly bytes: Buffer;
  /** False when the request has more than these bytes, or may have. */
  readonly isWhole: boolean;
  /** Aborted, with Fault OVERLOADED, when the body is dropped in favor of others. Undefined for a body that needs no limit. */
  readonly dropped: AbortSignal | undefined;
  release(): void;
}

/** Reads bodies within the limits. */
export class Bodies {
  readonly #small = new Room(allSmallBytesMax);
  readonly #large = new Room(allLargeBytesMax);

  /**
   * Reads the body of a request; `bytesMax` is 0 for a call without a body. With `isEnough`, reads only until it returns true for
   * the bytes so far. Rejects when the sender leaves, with Fault BODY_TOO_LARGE, also for a first message that claims to be too
   * large, or with OVERLOADED when the body was dropped in favor of others.
   */
  async read(request: Request, bytesMax: number, isEnough?: (read: FirstEnvelope) => boolean): Promise<HeldBody> {
    const length = Number(request.headers["content-length"] ?? Number.NaN);
    if (length > bytesMax) {
      throw tooLarge(bytesMax);
    }
    const whole = takeWhole(request, length);
    if (whole !== undefined) {
      return { bytes: whole, isWhole: true, dropped: undefined, release: () => undefined };
    }
    const envelope = isEnvelopedType(request.headers["content-type"] ?? "") ? new FirstEnvelope() : undefined;
    const { promise: isOver, resolve: finish, reject: fail } = Promise.withResolvers<boolean>();
    const end = (): void => finish(true);
    const dropping = new AbortController();
    const body = new Body(() => {
      const fault = new Fault("OVERLOADED", "too many large requests at once: try again", { retryAfterMs: 1_000 });
      fail(fault);
      dropping.abort(fault);
    });
    const take = (chunk: Uint8Array): void => {
      body.add(chunk);
      envelope?.add(chunk);
      if (Math.max(body.bytes, envelope?.messageBytes ?? 0) > bytesMax) {
        body.leave();
        fail(tooLarge(bytesMax));
        return;
      }
      body.stayIn(body.bytes > smallBytesMax ? this.#large : this.#small);
      if (envelope?.isKnown === true && isEnough?.(envelope) === true) {
        // What follows stays in the request, for the reader of the messages.
        request.pause();
        finish(false);
      }
    };
    // Also called after each complete body, before this function goes on; an error costs as much as half of a small request.
    const leave = (): void => {
      if (!request.readableEnded) {
        fail(new Error("the client left before its body was complete"));
      }
    };
    request.on("data", take).once("end", end).once("error", fail).once("close", leave);
    try {
      const isWhole = await isOver;
      const bytes = Buffer.concat(body.chunks, body.bytes);
      return { bytes, isWhole, dropped: dropping.signal, release: () => body.leave() };
    } catch (error) {
      body.leave();
      throw error;
    } finally {
      request.off("data", take).off("end", end).off("error", fail).off("close", leave);
    }
  }
}

/** Returns the body when all of it has arrived with the head, as small bodies over HTTP/1.1 do. */
function takeWhole(request: Request, length: number): Buffer | undefined {
  if (request.readableLength !== length || "stream" in request) {
    return undefined;
  }
  const whole: Buffer | null = request.read();
  if (whole?.byteLength !== length) {
    return undefined;
  }
  // The end follows without another read, but the connection waits until the request is consumed.
  request.resume();
  return whole;
}

class Body {
  readonly evict: () => void;
  chunks: Uint8Array[] = [];
  bytes = 0;
  #room: Room | undefined;
  #heldBytes = 0;
  #progressedAtBytes = 0;
  #isGone = false;

  constructor(evict: () => void) {
    this.evict = evict;
  }

  add(chunk: Uint8Array): void {
    if (!this.#isGone) {
      this.chunks.push(chunk);
      this.bytes += chunk.byteLength;
    }
  }

  /** Reports the current size to the room. */
  stayIn(room: Room): void {
    if (this.#isGone) {
      return;
    }
    const hasMoved = room !== this.#room;
    if (hasMoved) {
      this.#room?.remove(this, this.#heldBytes);
      this.#room = room;
      this.#heldBytes = 0;
    }
    const addedBytes = this.bytes - this.#heldBytes;
    const hasProgressed = hasMoved || this.bytes - this.#progressedAtBytes >= progressBytes;
    if (hasProgressed) {
      this.#progressedAtBytes = this.bytes;
    }
    this.#heldBytes = this.bytes;
    room.hold(this, addedBytes, hasProgressed);
  }

  leave(): void {
    this.#isGone = true;
    this.#room?.remove(this, this.#heldBytes);
    this.#room = undefined;
    this.#heldBytes = 0;
  }
}

class Room {
  readonly #bytesMax: number;
  #heldBytes = 0;
  /** Ordered by progress: the body with the oldest progress comes first. */
  readonly #bodies = new Set<Body>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  hold(body: Body, addedBytes: number, hasProgressed: boolean): void {
    this.#heldBytes += addedBytes;
    if (hasProgressed) {
      this.#bodies.delete(body);
      this.#bodies.add(body);
    }
    for (const stalled of this.#bodies) {
      if (this.#heldBytes <= this.#bytesMax) {
        return;
      }
      stalled.leave();
      stalled.chunks = [];
      stalled.evict();
    }
  }

  remove(body: Body, heldBytes: number): void {
    this.#bodies.delete(body);
    this.#heldBytes -= heldBytes;
  }
}

/**
 * Returns the contents that a signature may cover: the body, and for a call with one plain message in an envelope also that
 * message.
 */
export function contentsOf(body: Buffer, contentType: string): readonly Buffer[] {
  const isOnePlainMessage =
    isEnvelopedType(contentType) &&
    body.length >= envelopePrefixBytes &&
    body[0] === 0 &&
    body.readUInt32BE(1) === body.length - envelopePrefixBytes;
  return isOnePlainMessage ? [body, body.subarray(envelopePrefixBytes)] : [body];
}

function tooLarge(bytesMax: number): Fault {
  if (bytesMax === 0) {
    return new Fault("INVALID_ARGUMENT", "the call reads no body: sign and send the request without one");
  }
  return new Fault("BODY_TOO_LARGE", `the request body is larger than ${bytesMax} bytes`);
}
