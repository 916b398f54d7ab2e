// Derives a value once for each object, and keeps it as long as that object lives.

/**
 * Returns the same function, cached by argument: it derives each object's value once. The object keeps the value under a symbol
 * of this function: an entry of a WeakMap costs ten times as much, and again in each garbage collection.
 */
export function shared<T extends object, Made extends object>(make: (from: T) => Made): (from: T) => Made {
  const slot = Symbol(make.name);
  return (from: T & { [slot]?: Made }) => {
    from[slot] ??= make(from);
    return from[slot];
  };
}
