// The look. A site changes it by the variables of `:host`, by `color-scheme`, which the element takes from the page, and by parts.

export const styles = `
:host {
  --accent: var(--runnel-chat-accent, light-dark(#0b6b6b, #5ec8c0));
  --on-accent: var(--runnel-chat-on-accent, light-dark(#ffffff, #06201f));
  --background: var(--runnel-chat-background, light-dark(#ffffff, #16191c));
  --raised: var(--runnel-chat-raised, light-dark(#f1f4f5, #22272b));
  --text: var(--runnel-chat-text, light-dark(#1a1f23, #e6eaed));
  --muted: var(--runnel-chat-muted, light-dark(#525c64, #a3adb5));
  --line: var(--runnel-chat-line, light-dark(#7b858d, #7a848c));
  --bad: var(--runnel-chat-bad, light-dark(#a4262c, #ff9a94));
  --radius: var(--runnel-chat-radius, 12px);
  --gap: var(--runnel-chat-gap, 12px);
  display: block;
  block-size: 32rem;
  min-inline-size: 0;
  font: var(--runnel-chat-font, 15px/1.5 system-ui, sans-serif);
  color: var(--text);
  background: var(--background);
  border: 1px solid var(--line);
  border-radius: var(--radius);
  overflow: hidden;
}
:host([hidden]), [hidden] { display: none !important; }
* { box-sizing: border-box; }
[part="chat"] { display: flex; flex-direction: column; block-size: 100%; }
[part="log"] {
  flex: 1; min-block-size: 0; overflow-y: auto; padding: var(--gap);
  display: flex; flex-direction: column; gap: var(--gap);
}
[part~="message"] { overflow-wrap: anywhere; max-inline-size: 100%; }
[part~="question"] {
  align-self: flex-end; max-inline-size: 85%; white-space: pre-wrap; padding: 8px 12px;
  background: var(--raised); border-radius: var(--radius);
}
[part~="answer"] { align-self: stretch; }
[part="note"] { margin: 4px 0 0; color: var(--muted); }
[part="status"] { margin: 0; padding: 0 var(--gap); min-block-size: 1.5em; color: var(--muted); font-size: 0.9em; }
[part="status"][data-state="failed"] { color: var(--bad); }
[part="form"] { display: flex; gap: 8px; align-items: end; padding: 8px var(--gap) var(--gap); }
[part="input"] {
  flex: 1; min-inline-size: 0; font: inherit; color: inherit; background: var(--background); resize: none;
  border: 1px solid var(--line); border-radius: calc(var(--radius) * 0.67); padding: 7px 10px;
  field-sizing: content; max-block-size: 10em;
}
[part="input"]::placeholder { color: var(--muted); opacity: 1; }
[part~="button"] {
  font: inherit; font-weight: 600; padding: 7px 14px; min-block-size: 38px; cursor: pointer;
  color: var(--on-accent); background: var(--accent);
  border: 1px solid transparent; border-radius: calc(var(--radius) * 0.67);
}
[part~="stop"], [part~="again"] { color: var(--text); background: var(--raised); border-color: var(--line); }
[part~="button"]:disabled { cursor: default; color: var(--muted); background: var(--raised); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
[part="log"]:focus-visible, pre:focus-visible { outline-offset: -2px; }
[part="tool"] { margin: 6px 0; border: 1px solid var(--line); border-radius: 8px; }
[part="tool-summary"] { padding: 4px 10px; min-block-size: 24px; cursor: pointer; color: var(--muted); }
[part="tool"][data-state="failed"] [part="tool-state"] { color: var(--bad); }
[part="tool"] pre { margin: 0; border-radius: 0; max-block-size: 16em; }
.markdown > :first-child { margin-block-start: 0; }
.markdown > :last-child { margin-block-end: 0; }
.markdown p, .markdown ul, .markdown ol, .markdown blockquote, pre, .table { margin: 0 0 0.7em; }
.heading { font-weight: 700; }
blockquote { padding-inline-start: 10px; border-inline-start: 3px solid var(--line); color: var(--muted); }
ul, ol { padding-inline-start: 1.5em; }
code, pre { font: var(--runnel-chat-code-font, 0.92em/1.45 ui-monospace, monospace); }
code { background: var(--raised); border-radius: 4px; padding: 0 3px; }
pre { direction: ltr; text-align: left; overflow: auto; padding: 8px 10px; background: var(--raised); border-radius: 8px; }
pre code { font: inherit; padding: 0; background: none; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: 3px 10px; border: 1px solid var(--line); text-align: start; }
a[href] { color: var(--accent); }
.host { color: var(--muted); }
.unseen { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: pre-wrap; }
@media (forced-colors: active) { [part~="button"] { border-color: ButtonText; } }
`;
