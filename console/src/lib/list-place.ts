// The place of a person in a list, kept in the history of the browser: Back leads to the same rows, with the focus on the same one.

/** Where a list is, and which of its rows has the focus. */
export interface ListPlace {
  readonly top: number;
  readonly id: string;
}

/** Keeps the place in the current entry of the history, before the page goes on to another. */
export function keepListPlace(place: ListPlace): void {
  history.replaceState({ ...readState(), listPlace: place }, "");
}

/** Returns the place that the current entry of the history has; undefined for a new one. */
export function readListPlace(): ListPlace | undefined {
  return readState().listPlace;
}

function readState(): { readonly listPlace?: ListPlace } {
  return (history.state ?? {}) as { readonly listPlace?: ListPlace };
}
