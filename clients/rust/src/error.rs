use std::{collections::BTreeMap, fmt, time::Duration};

use tonic::{Code, Status};
use tonic_types::StatusExt;

/// The failure of a call or of a check. `?` makes it of a status of a generated client.
#[derive(Debug, Clone)]
pub struct Error {
    /// The code of gRPC.
    pub code: Code,
    /// Names the cause for programs, such as `RUN_NOT_FOUND`. Empty when the service did not answer.
    pub reason: String,
    /// Says what was wrong and what to do, for people.
    pub message: String,
    /// Facts about the reason.
    pub metadata: BTreeMap<String, String>,
    /// The refused fields of the request.
    pub violations: Vec<Violation>,
    /// How long to wait before the same call may succeed.
    pub retry_after: Option<Duration>,
}

/// A refused field.
#[derive(Debug, Clone)]
pub struct Violation {
    /// The path of the field in the request.
    pub field: String,
    /// Says what to do.
    pub description: String,
}

impl Error {
    pub(crate) fn invalid(reason: &str, message: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..Status::invalid_argument(message).into() }
    }

    /// Whether the same call gets the same answer again: docs/resuming.md has the table.
    pub(crate) fn is_answer(&self) -> bool {
        use Code::*;
        matches!(
            self.code,
            InvalidArgument
                | Unauthenticated
                | PermissionDenied
                | NotFound
                | OutOfRange
                | FailedPrecondition
                | Unimplemented
                | DataLoss
        )
    }

    /// Whether the same unary call may succeed later.
    pub(crate) fn is_interruption(&self) -> bool {
        use Code::*;
        matches!(self.code, Unavailable | Internal | Unknown | Cancelled | DeadlineExceeded)
            || self.retry_after.is_some()
    }
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        let details = status.get_error_details();
        let info = details.error_info().cloned();
        let violations = details.bad_request().map_or(&[][..], |refused| &refused.field_violations);
        Self {
            code: status.code(),
            reason: info.as_ref().map_or_else(String::new, |info| info.reason.clone()),
            message: status.message().into(),
            metadata: info.map_or_else(BTreeMap::new, |info| info.metadata.into_iter().collect()),
            violations: violations
                .iter()
                .map(|each| Violation { field: each.field.clone(), description: each.description.clone() })
                .collect(),
            retry_after: details.retry_info().and_then(|info| info.retry_delay),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = if self.reason.is_empty() { String::new() } else { format!(" ({})", self.reason) };
        write!(to, "{:?}{reason}: {}", self.code, self.message)
    }
}

impl std::error::Error for Error {}
