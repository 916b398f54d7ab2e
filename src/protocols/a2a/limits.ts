// The limits of A2A agents: what they may send, and how long they may take.

/** The maximum size of one answer, such as a card or a task. */
export const answerBytesMax = 8_388_608;

/** The maximum size of one stream. */
export const streamBytesMax = 67_108_864;

/** The maximum number of characters that the events of one run may have. */
export const loggedCharsMax = 67_108_864;

/** The maximum number of characters of one message: a reader gets it in one piece. */
export const messageCharsMax = 1_000_000;

/** The maximum characters of an error of the agent. */
export const errorCharsMax = 2_000;

/** The time until the head of an answer that is no message's. */
export const answerTimeoutMs = 30_000;

/** The time until the head of the answer to a message: an agent without streams may answer at its end. The contract permits an hour. */
export const messageTimeoutMs = 3_600_000;

/** The time without an event after which the task is read anew: a connection may be gone without a sign. */
export const quietMs = 60_000;

/** How often the task of an agent without streams is read. */
export const pollMs = 2_000;

/** The number of attempts in a row to reach the agent of a task that was started. */
export const triesMax = 8;

/** The longest wait between two attempts. */
export const retryMsMax = 16_000;

/** The time in which a task is cancelled. */
export const cancelGraceMs = 5_000;

/** Enough for the search of a task and its cancellation. */
export const stopGraceMs = 8_000;

/** The number of pages of tasks in which a message is looked up. */
export const pagesMax = 5;

/** The clocks of both sides may differ by so much. */
export const clockSkewMs = 600_000;
