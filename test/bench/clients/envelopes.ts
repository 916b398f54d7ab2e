// Splits a stream of bytes into gRPC messages: one byte of flags, four of length, the message. It never decodes them.

/** Calls `onMessage` with each whole message that the pieces make, in order. */
export function envelopeReader(onMessage: (message: Buffer) => void): (piece: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (piece) => {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let at = 0;
    while (bytes.length - at >= headBytes) {
      const end = at + headBytes + bytes.readUInt32BE(at + 1);
      if (end > bytes.length) {
        break;
      }
      onMessage(bytes.subarray(at + headBytes, end));
      at = end;
    }
    rest = bytes.subarray(at);
  };
}

export function envelope(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + message.length);
  bytes.writeUInt8(0, 0);
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, headBytes);
  return bytes;
}

const headBytes = 5;
