// The title of the page: the view, and before it how much waits for the person, for those who look at another tab.

let name = "";
let count = 0;

/** Example: `Approvals` gives `(2) Approvals · Runnel` while two things wait. */
export function setTitle(view: string): void {
  name = view;
  show();
}

export function setTitleCount(waiting: number): void {
  count = waiting;
  show();
}

function show(): void {
  document.title = `${count > 0 ? `(${count}) ` : ""}${name} · Runnel`;
}
