// The envelope of a message in the bodies of gRPC, gRPC-Web and Connect's streams: a byte of flags, the size of the message in four
// bytes, and the message.

/** The size of the flags and the size. */
export const envelopePrefixBytes = 5;

/** The flag of an envelope whose message is compressed. */
export const compressedFlag = 1;

/** Whether a body of this type holds its messages in envelopes. */
export function isEnvelopedType(contentType: string): boolean {
  return /^application\/(?:grpc|connect\+)/i.test(contentType);
}

/** The first envelope of a body, read as the body arrives. */
export class FirstEnvelope {
  /** The bytes of the body so far. */
  bytes = 0;
  flags = 0;
  /** The size of the message, as its envelope claims it. */
  messageBytes = 0;

  /** Whether the prefix is complete. */
  get isKnown(): boolean {
    return this.bytes >= envelopePrefixBytes;
  }

  get isCompressed(): boolean {
    return (this.flags & compressedFlag) !== 0;
  }

  /** Whether the body goes on behind the message. */
  get isFollowed(): boolean {
    return this.isKnown && this.bytes > envelopePrefixBytes + this.messageBytes;
  }

  add(chunk: Uint8Array): void {
    let at = this.bytes;
    for (const byte of chunk.subarray(0, Math.max(envelopePrefixBytes - at, 0))) {
      if (at === 0) {
        this.flags = byte;
      } else {
        this.messageBytes = this.messageBytes * 256 + byte;
      }
      at += 1;
    }
    this.bytes += chunk.byteLength;
  }
}
