// The long responses of the fake providers: how many pieces of text they have, and each piece.

/** Enough that the request and the end of a response cost nothing beside them. */
export const deltasOfStream = 20_000;

/** About as long as a token. */
export const word = "some ";
