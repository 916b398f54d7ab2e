// Resolves the package of the client to its sources, so that the recipes run as they are without an install.

import { registerHooks } from "node:module";

registerHooks({
  resolve: (specifier, context, next) => next(sourceOf(specifier) ?? specifier, context),
});

function sourceOf(specifier) {
  if (specifier === "@runnel/client") {
    return new URL("../../clients/typescript/src/index.ts", import.meta.url).href;
  }
  const [, path] = /^@runnel\/client\/(gen\/.+)$/.exec(specifier) ?? [];
  return path && new URL(`../../${path}.js`, import.meta.url).href;
}
