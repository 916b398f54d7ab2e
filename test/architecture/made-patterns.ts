// Prints the regular expressions that modules make of texts when they are loaded: `[["source","flags"],…]`. It runs in a process of
// its own, with the modules as arguments.

const made: [source: string, flags: string][] = [];
globalThis.RegExp = new Proxy(RegExp, {
  construct: (target, [pattern, flags]: [string | RegExp, string?]) => {
    const expression = new target(pattern, flags);
    made.push([expression.source, expression.flags]);
    return expression;
  },
});
for (const module of process.argv.slice(2)) {
  await import(module);
}
process.stdout.write(JSON.stringify(made));
