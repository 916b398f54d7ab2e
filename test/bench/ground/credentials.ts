// The client that the benches call as: checking credentials is part of the work.

export const benchClient = "bench";
export const benchKey = "key-of-the-benches";
export const benchAuthorization = `Bearer ${benchKey}`;
