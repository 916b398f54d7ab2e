// A small assembler for the programs that the kernel asks about each system call. Jumps only go forward and over a body, so
// there are no labels, and a program always ends.

export type Instruction = { readonly code: number; readonly yes: number; readonly no: number; readonly k: number };

export type Test = { readonly code: number; readonly k: number };

// The codes of classic BPF, as linux/bpf_common.h composes them: class, size or operation, source.
const loadWord = 0x20;
const jumpIfEqual = 0x15;
const jumpIfGreater = 0x25;
const jumpIfGreaterOrEqual = 0x35;
const jumpIfAnyBit = 0x45;
const end = 0x06;

/** Both fields of a jump are one byte. */
const bodyInstructionsMax = 255;
const instructionBytes = 8;

/** What the kernel lays out for the program: number, architecture, address, six arguments of eight bytes. */
export const callNumber = 0;
export const architecture = 4;

/** The low half of an argument, on a little-endian machine; the kernel takes the flags and families below from it alone. */
export function argument(index: number): number {
  return 16 + 8 * index;
}

export function load(offset: number): Instruction[] {
  return [{ code: loadWord, yes: 0, no: 0, k: offset }];
}

export function answer(verdict: number): Instruction[] {
  return [{ code: end, yes: 0, no: 0, k: verdict }];
}

export function equals(k: number): Test {
  return { code: jumpIfEqual, k };
}

export function isAbove(k: number): Test {
  return { code: jumpIfGreater, k };
}

export function isAtLeast(k: number): Test {
  return { code: jumpIfGreaterOrEqual, k };
}

export function hasAnyOf(bits: number): Test {
  return { code: jumpIfAnyBit, k: bits };
}

/** Runs the body where what was loaded last passes the test. */
export function when({ code, k }: Test, body: readonly Instruction[]): Instruction[] {
  return [{ code, yes: 0, no: lengthOf(body), k }, ...body];
}

/** Runs the body where it does not. */
export function unless({ code, k }: Test, body: readonly Instruction[]): Instruction[] {
  return [{ code, yes: lengthOf(body), no: 0, k }, ...body];
}

/** The bytes that the kernel takes, on a little-endian machine. */
export function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * instructionBytes);
  for (const [index, { code, yes, no, k }] of program.entries()) {
    const at = index * instructionBytes;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(yes, at + 2);
    bytes.writeUInt8(no, at + 3);
    bytes.writeUInt32LE(k, at + 4);
  }
  return bytes;
}

function lengthOf(body: readonly Instruction[]): number {
  if (body.length > bodyInstructionsMax) {
    throw new Error(`a jump goes over ${bodyInstructionsMax} instructions at most, not ${body.length}`);
  }
  return body.length;
}
