// A person who has a keyboard and no pointer: reaches each control with Tab, from where the focus is.

import type { Locator, Page } from "playwright-core";

/** More than the controls of any view. */
const tabsMax = 150;

export class Keyboard {
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  /** Takes the pointer away: a click of one fails the journey. */
  static async only(page: Page): Promise<Keyboard> {
    await page.evaluate(`addEventListener("pointerdown", () => console.error("a pointer was used"), true)`);
    return new Keyboard(page);
  }

  /** Moves the focus to the control. */
  async reach(control: Locator): Promise<void> {
    await control.waitFor();
    for (let tabs = 0; tabs < tabsMax; tabs += 1) {
      if (await control.evaluate((element: { matches(selector: string): boolean }) => element.matches(":focus"))) {
        return;
      }
      await this.#page.keyboard.press("Tab");
    }
    throw new Error(`${tabsMax} presses of Tab do not reach ${control}`);
  }

  /** Reaches a button or a link, and presses it. */
  async press(control: Locator, key = "Enter"): Promise<void> {
    await this.reach(control);
    await this.#page.keyboard.press(key);
  }

  /** Reaches a field, and writes its text anew. */
  async write(field: Locator, text: string): Promise<void> {
    await this.reach(field);
    await this.#page.keyboard.press("ControlOrMeta+a");
    await this.#page.keyboard.type(text);
  }

  /** Presses keys one after the other, where the focus is. */
  async keys(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await this.#page.keyboard.press(key);
    }
  }
}
