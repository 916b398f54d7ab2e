// Makes elements. Texts become text nodes, never HTML.

export type Child = Node | string;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties?: object,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name];
export function element(name: string, properties?: object, ...children: readonly Child[]): HTMLElement;
export function element(name: string, properties: object = {}, ...children: readonly Child[]): HTMLElement {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** An element with a part that a site may style: `runnel-chat::part(name)`. */
export function part<Name extends keyof HTMLElementTagNameMap>(
  names: string,
  name: Name,
  properties?: object,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = element(name, properties, ...children);
  made.setAttribute("part", names);
  return made;
}

/** Sets the text of an element, unless it has it: a live region would say it again. */
export function setText(node: Element, text: string): void {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}
