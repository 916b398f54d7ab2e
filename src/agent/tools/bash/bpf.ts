// A small assembler for seccomp programs, which the kernel runs at each system call. Jumps only go forward over a body. So
// there are no labels, and every program ends.

/** An instruction of classic BPF. */
export type Instruction = { readonly code: number; readonly yes: number; readonly no: number; readonly k: number };

/** The condition of a jump. */
export type Test = { readonly code: number; readonly k: number };

// The opcodes of classic BPF, as linux/bpf_common.h composes them: class, size or operation, source.
const loadWord = 0x20;
const jumpIfEqual = 0x15;
const jumpIfGreater = 0x25;
const jumpIfGreaterOrEqual = 0x35;
const jumpIfAnyBit = 0x45;
const end = 0x06;

/** Both jump offsets are one byte. */
const bodyInstructionsMax = 255;
const instructionBytes = 8;

/** Offsets in the kernel's input: call number, architecture, instruction pointer, six arguments of eight bytes. */
export const callNumber = 0;
/** The offset of the architecture. */
export const architecture = 4;

/** Returns the offset of an argument's low half (little-endian). The kernel reads the flags and families from it only. */
export function argument(index: number): number {
  return 16 + 8 * index;
}

/** Loads a word of the input. */
export function load(offset: number): Instruction[] {
  return [{ code: loadWord, yes: 0, no: 0, k: offset }];
}

/** Ends the program with a verdict. */
export function answer(verdict: number): Instruction[] {
  return [{ code: end, yes: 0, no: 0, k: verdict }];
}

/** Tests for equality. */
export function equals(k: number): Test {
  return { code: jumpIfEqual, k };
}

/** Tests for a greater value. */
export function isAbove(k: number): Test {
  return { code: jumpIfGreater, k };
}

/** Tests for an equal or greater value. */
export function isAtLeast(k: number): Test {
  return { code: jumpIfGreaterOrEqual, k };
}

/** Tests whether any of the bits is set. */
export function hasAnyOf(bits: number): Test {
  return { code: jumpIfAnyBit, k: bits };
}

/** Runs the body when the loaded value passes the test. */
export function when({ code, k }: Test, body: readonly Instruction[]): Instruction[] {
  return [{ code, yes: 0, no: lengthOf(body), k }, ...body];
}

/** Runs the body when the loaded value fails the test. */
export function unless({ code, k }: Test, body: readonly Instruction[]): Instruction[] {
  return [{ code, yes: lengthOf(body), no: 0, k }, ...body];
}

/** Returns the program as bytes for the kernel (little-endian). */
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
    throw new Error(`a jump skips at most ${bodyInstructionsMax} instructions, not ${body.length}`);
  }
  return body.length;
}
