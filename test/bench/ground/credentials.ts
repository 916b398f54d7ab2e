// Who the benches call as: credentials are part of the work.

export const benchClient = "bench";
export const benchKey = "key-of-the-benches";
export const benchAuthorization = `Bearer ${benchKey}`;
