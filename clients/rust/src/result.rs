use serde::de::DeserializeOwned;

use crate::contract::type_of;
use crate::error::Error;
use crate::v1::{Message, RunResult, ToolCall, message, run::State, run_result::Payload};

/// A result of a log.
#[derive(Debug, Clone)]
pub struct Entry {
    pub result: RunResult,
    /// The result as the service has stored it, as receipts need it.
    pub bytes: Vec<u8>,
}

impl Entry {
    /// Returns the dotted name of the type, such as `message.delta`, and `unknown` for one that is newer than this library.
    pub fn type_name(&self) -> &'static str {
        self.result.payload.as_ref().map_or("unknown", type_of)
    }

    /// Returns how a terminal result ended its run, and `None` for every other result.
    pub fn end(&self) -> Option<End> {
        match self.result.payload.clone()? {
            Payload::RunCompleted(completed) => Some(End {
                state: State::Completed,
                output: completed.message.map_or(completed.output, text_of),
                code: completed.finish_reason,
                error: String::new(),
                is_retryable: false,
                pending: completed.pending_tool_calls,
            }),
            Payload::RunFailed(failed) => Some(End {
                state: if failed.code == "cancelled" { State::Cancelled } else { State::Failed },
                output: failed.output,
                code: failed.code,
                error: failed.error,
                is_retryable: failed.retryable,
                pending: Vec::new(),
            }),
            _ => None,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct End {
    /// `Completed`, `Failed` or `Cancelled`.
    pub state: State,
    pub output: String,
    /// The finish reason of a completed run, such as `stop`, or the code of a failure, such as `runner.timeout`.
    pub code: String,
    /// Describes a failure, for people.
    pub error: String,
    /// Whether the same request may succeed later.
    pub is_retryable: bool,
    /// The calls of functions that the caller has to answer.
    pub pending: Vec<ToolCall>,
}

impl End {
    /// Returns the output, JSON as a `response_format` asks for, as a type of your own. Fails unless the run has completed.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        if self.state != State::Completed {
            return Err(Error::invalid("RUN_FAILED", format!("the run failed ({}): {}", self.code, self.error)));
        }
        serde_json::from_str(&self.output)
            .map_err(|error| Error::invalid("OUTPUT_INVALID", format!("the output does not fit the type: {error}")))
    }
}

fn text_of(message: Message) -> String {
    match message.content {
        Some(message::Content::Text(text)) => text,
        Some(message::Content::Parts(parts)) => parts.elements.into_iter().filter_map(|part| part.text).collect(),
        None => String::new(),
    }
}

/// The text that a run has written so far, without the void text of restarted turns. Add every result in order. The first result of
/// another run, as in [`Client::ask`](crate::Client::ask), begins an empty text.
#[derive(Debug, Clone, Default)]
pub struct Text {
    run_id: String,
    /// Each with the sequence of its result; `None` marks the end of a message.
    pieces: Vec<(i64, Option<String>)>,
}

impl Text {
    /// Adds the text of a result, or drops what the result makes void.
    pub fn add(&mut self, Entry { result, .. }: &Entry) {
        if result.run_id != self.run_id {
            *self = Self { run_id: result.run_id.clone(), pieces: Vec::new() };
        }
        match &result.payload {
            Some(Payload::MessageDelta(delta)) => {
                let chunk = delta.chunk.clone().unwrap_or_default();
                if chunk.replaces_text {
                    self.drop_while(|(_, piece)| piece.is_some());
                }
                self.pieces.push((result.sequence, Some(chunk.content)));
            }
            Some(Payload::MessageCompleted(_)) => self.pieces.push((result.sequence, None)),
            Some(Payload::TurnRestarted(turn)) => self.drop_while(|(sequence, _)| *sequence >= turn.from_sequence),
            _ => {}
        }
    }

    fn drop_while(&mut self, is_void: impl Fn(&(i64, Option<String>)) -> bool) {
        while self.pieces.last().is_some_and(&is_void) {
            self.pieces.pop();
        }
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.pieces.iter().filter_map(|(_, piece)| piece.as_deref()).try_for_each(|piece| to.write_str(piece))
    }
}
