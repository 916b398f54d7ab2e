// The numbers with which runners count their results.

/** The maximum number: that of an `int32`, in which runners count. */
export const sequenceMax = 2 ** 31 - 1;

/** Whether the number can be that of a result. */
export function isSequence(number: number): boolean {
  return number >= 1 && number <= sequenceMax;
}
