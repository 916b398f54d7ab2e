// Joins many changes into one notification a frame, so that a fast stream costs one rendering for each picture.

/** Returns a function that calls `notify` once in the next frame, however often it is called before. */
export function oncePerFrame(notify: () => void): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) {
      return;
    }
    isAsked = true;
    const go = (): void => {
      isAsked = false;
      notify();
    };
    // A hidden page has no frames.
    if (document.visibilityState === "visible") {
      requestAnimationFrame(go);
    } else {
      setTimeout(go, 100);
    }
  };
}
