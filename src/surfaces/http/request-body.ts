// Bodies that have to be read before their senders have proved who they are: bounded each, and all together.
//
// B1  What is held has a limit, whatever is sent.
// B2  Beyond it the body goes that has made no progress for longest, not the one that arrives. So a body that stalls or
//     trickles makes room for bodies that complete.
// B3  Small bodies and large ones have a limit each, so that neither kind takes the room of the other.

import { Fault } from "../../platform/base/fault.ts";
import type { Request } from "./rpc.ts";

/** Most calls have less. Such a body is in a few packets, so it is held for moments only. */
const smallBytesMax = 16_384;
/** A thousand of them. */
const allSmallBytesMax = 1_024 * smallBytesMax;
/** Six of the largest bodies that the documented settings allow. */
const allLargeBytesMax = 64 * 1_048_576;
/** Less than this in one go is no progress: a body that trickles loses its place. */
const progressBytes = 16_384;

export class UnverifiedBodies {
  readonly #small = new Room(allSmallBytesMax);
  readonly #large = new Room(allLargeBytesMax);

  /** Rejects when the sender goes away, with BODY_TOO_LARGE, or with OVERLOADED when its place went to others. */
  async read(request: Request, bytesMax: number): Promise<Buffer> {
    if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
      throw tooLarge(bytesMax);
    }
    const { promise: isOver, resolve: end, reject: fail } = Promise.withResolvers<void>();
    const body = new Body(() => {
      fail(new Fault("OVERLOADED", "too many large requests at once: try again", { retryAfterMs: 1_000 }));
    });
    const take = (chunk: Uint8Array): void => {
      if (body.bytes + chunk.byteLength > bytesMax) {
        body.leave();
        fail(tooLarge(bytesMax));
      } else {
        body.add(chunk);
        body.stayIn(body.bytes > smallBytesMax ? this.#large : this.#small);
      }
    };
    const leave = (): void => fail(new Error("the client left before its body was complete"));
    request.on("data", take).once("end", end).once("error", fail).once("close", leave);
    try {
      await isOver;
      return Buffer.concat(body.chunks, body.bytes);
    } finally {
      request.off("data", take).off("end", end).off("error", fail).off("close", leave);
      body.leave();
    }
  }
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

  /** Tells the room how much there is now. */
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
  /** The one without progress for longest comes first. */
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

/** What a signature may be over: the body, and of a call with one plain message in an envelope also that message. */
export function contentsOf(body: Buffer, contentType: string): readonly Buffer[] {
  const isEnveloped = /^application\/(?:grpc|connect\+)/i.test(contentType);
  const isOnePlainMessage =
    isEnveloped &&
    body.length >= envelopePrefixBytes &&
    body[0] === 0 &&
    body.readUInt32BE(1) === body.length - envelopePrefixBytes;
  return isOnePlainMessage ? [body, body.subarray(envelopePrefixBytes)] : [body];
}

const envelopePrefixBytes = 5;

function tooLarge(bytesMax: number): Fault {
  return new Fault("BODY_TOO_LARGE", `the request body is larger than ${bytesMax} bytes`);
}
