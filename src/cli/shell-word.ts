// Quotes words for a POSIX shell, in lines that a person pastes.

/** Quotes a word: `a/b.txt` stays as it is, `it's` becomes `'it'\''s'`. */
export function shellWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
