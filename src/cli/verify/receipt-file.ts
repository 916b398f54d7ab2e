// A receipt in a file: its JWS alone, or as the service answers it.

/** Maximum size of a file with a receipt: more than the receipt of the longest log has, with its statement beside it. */
export const receiptBytesMax = 8_388_608;

export interface ReceiptFile {
  readonly jws: string;
  /** The statement beside the JWS, for people; undefined when there is none. */
  readonly copy: unknown;
}

/** What a compact JWS is written with. */
const jwsText = /^[\w-]+(?:\.[\w-]*)+$/;

/** Returns undefined for a file of another kind. */
export function readReceiptFile(bytes: Uint8Array): ReceiptFile | undefined {
  const text = Buffer.from(bytes).toString().trim();
  if (jwsText.test(text)) {
    return { jws: text, copy: undefined };
  }
  const { jws, statement } = parseObject(text);
  return jws === undefined ? undefined : { jws: typeof jws === "string" ? jws : "", copy: readCopy(statement) };
}

/** An object over REST; over gRPC, which has no JSON, its text. */
function readCopy(statement: unknown): unknown {
  return typeof statement === "string" ? (parse(statement) ?? statement) : statement;
}

function parseObject(text: string): { readonly jws?: unknown; readonly statement?: unknown } {
  const value = parse(text);
  return typeof value === "object" && value !== null ? value : {};
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
