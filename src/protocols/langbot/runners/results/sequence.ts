// The numbers that runners count their results with.

/** The largest number of an `int32`, which is what runners count with. */
export const sequenceMax = 2 ** 31 - 1;

export function isSequence(number: number): boolean {
  return number >= 1 && number <= sequenceMax;
}
