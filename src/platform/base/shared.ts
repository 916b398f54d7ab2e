// Derives a value once for many readers and keeps it as long as its source lives.

/** Returns the same function, cached by argument: it derives each object's value once. */
export function shared<T extends object, Made extends object>(make: (from: T) => Made): (from: T) => Made {
  const known = new WeakMap<T, Made>();
  return (from) => {
    let made = known.get(from);
    if (made === undefined) {
      made = make(from);
      known.set(from, made);
    }
    return made;
  };
}
