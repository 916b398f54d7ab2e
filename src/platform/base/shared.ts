// What many readers need of the same thing is made once, and lives as long as the thing does.

/** The same function, which makes each thing's own once. */
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
