use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use async_stream::{stream, try_stream};
use futures_core::Stream;
use http::uri::PathAndQuery;
use prost::Message;
use tokio::time::{Instant, timeout, timeout_at};
use tonic::client::Grpc;
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::call::{Delays, deadline_exceeded};
use crate::client::{Client, RECEIVED_BYTES_MAX};
use crate::error::Error;
use crate::result::Entry;
use crate::v1::{RunResult, TailRunBytes, TailRunRequest};

/// The results of a run. Drop it to stop. An error is the last that it gives.
pub struct Results(Pin<Box<dyn Stream<Item = Result<Entry, Error>> + Send>>);

impl Results {
    /// Ends the results with an error, which names the last failure, when a time has passed.
    pub(crate) fn within(
        limit: Option<Duration>,
        last_failure: LastFailure,
        results: impl Stream<Item = Result<Entry, Error>> + Send + 'static,
    ) -> Self {
        let Some(limit) = limit else { return Self(Box::pin(results)) };
        Self(Box::pin(stream! {
            let deadline = Instant::now() + limit;
            let mut results = Self(Box::pin(results));
            loop {
                let ended = |_| Err(deadline_exceeded(last_failure.get().as_ref()).into());
                match timeout_at(deadline, results.try_next()).await.unwrap_or_else(ended) {
                    Ok(Some(entry)) => yield Ok(entry),
                    Ok(None) => return,
                    Err(error) => {
                        drop(results);
                        yield Err(error);
                        return;
                    }
                }
            }
        }))
    }

    /// Returns the next result; `None` after the terminal one.
    pub async fn try_next(&mut self) -> Result<Option<Entry>, Error> {
        poll_fn(|context| self.0.as_mut().poll_next(context)).await.transpose()
    }
}

impl Stream for Results {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

/// Why the last attempt failed.
#[derive(Clone, Default)]
pub(crate) struct LastFailure(Arc<Mutex<Option<Status>>>);

impl LastFailure {
    fn set(&self, status: Status) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(status);
    }

    fn get(&self) -> Option<Status> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Client {
    /// Gives the results of a run after a sequence, each once and in order, up to the terminal one; 0 is the start. It opens the
    /// stream again when the connection breaks, when the stream is silent for too long, and when the service restarts.
    ///
    /// A turn may restart. Then results after `turn.restarted` replace earlier ones, and [`Text`](crate::Text) has the valid text.
    pub fn follow(&self, run_id: impl Into<String>, after: i64) -> Results {
        let (client, run_id) = (self.clone(), run_id.into());
        let last_failure = LastFailure::default();
        Results::within(
            self.caller.timeout,
            last_failure.clone(),
            try_stream! {
                let (mut last, mut ended_at, mut delays) = (after, None, Delays::default());
                loop {
                    let (before, was_ended_at) = (last, ended_at.take());
                    let mut tail = Tail::new(&client, &run_id, last);
                    let failure = 'tail: loop {
                        let results = match tail.next().await {
                            Ok(Some(response)) => response.results,
                            // Twice without a new result: the caller had the last one, or its type is newer than this library.
                            Ok(None) if was_ended_at == Some(last) => return,
                            Ok(None) => {
                                ended_at = Some(last);
                                break Status::unavailable("the stream ended before the end of the run");
                            }
                            Err(status) => break status,
                        };
                        for bytes in results {
                            let Ok(result) = RunResult::decode(bytes.as_slice()) else {
                                break 'tail Status::internal(format!("a result after {last} is unreadable"));
                            };
                            if result.sequence > last + 1 {
                                break 'tail Status::internal(format!("result {} follows result {last}", result.sequence));
                            }
                            if result.sequence == last + 1 {
                                last = result.sequence;
                                let entry = Entry { result, bytes };
                                let is_last = entry.end().is_some();
                                yield entry;
                                if is_last {
                                    return;
                                }
                            }
                        }
                    };
                    drop(tail);
                    last_failure.set(failure.clone());
                    let failure = Error::from(failure);
                    let retry_after = failure.retry_after;
                    if failure.is_answer() {
                        Err(failure)?;
                    }
                    if last > before {
                        delays = Delays::default();
                    }
                    delays.wait(retry_after).await;
                }
            },
        )
    }
}

/// One stream of a log.
struct Tail<'a> {
    client: &'a Client,
    request: TailRunRequest,
    channel: u64,
    stream: Option<Streaming<TailRunBytes>>,
    is_heard: bool,
}

impl<'a> Tail<'a> {
    fn new(client: &'a Client, run_id: &str, after: i64) -> Self {
        let request = TailRunRequest { run_id: run_id.into(), after, ..Default::default() };
        Self { client, request, channel: client.caller.connection.channel().1, stream: None, is_heard: false }
    }

    async fn next(&mut self) -> Result<Option<TailRunBytes>, Status> {
        let idle_timeout = self.client.idle_timeout;
        if let Ok(response) = timeout(idle_timeout, self.read()).await {
            self.is_heard = true;
            return response;
        }
        // The service opens each stream at once with an empty message, so the connection does not reach it.
        if !self.is_heard {
            self.client.caller.connection.replace(self.channel);
        }
        Err(Status::unavailable("the stream was silent"))
    }

    async fn read(&mut self) -> Result<Option<TailRunBytes>, Status> {
        if self.stream.is_none() {
            let mut grpc = Grpc::new(self.client.caller()).max_decoding_message_size(RECEIVED_BYTES_MAX);
            grpc.ready().await?;
            // The same message on the wire as TailRunResponse, with the results as stored.
            let codec = ProstCodec::<TailRunRequest, TailRunBytes>::default();
            let path = PathAndQuery::from_static("/runnel.v1.RunService/TailRun");
            let response = grpc.server_streaming(Request::new(self.request.clone()), path, codec).await?;
            self.stream = Some(response.into_inner());
        }
        self.stream.as_mut().expect("it was opened").message().await
    }
}
