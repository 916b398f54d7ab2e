//! What is below all clients: it adds credentials, and repeats what may be repeated.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use tokio::time::{Instant, sleep, timeout};
use tonic::body::Body;
use tonic::codegen::Bytes;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tower_service::Service;

use crate::contract::repeatable;
use crate::credentials::{Credentials, new_id};
use crate::error::Error;

const REPEAT_MAX: Duration = Duration::from_secs(60);
const DELAY_MIN: Duration = Duration::from_millis(200);
const DELAY_MAX: Duration = Duration::from_secs(10);
/// A flag and a length.
const PREFIX_BYTES: usize = 5;

/// Makes the calls of generated clients, with the credentials of its [`Client`](crate::Client).
#[derive(Clone)]
pub struct Caller {
    pub(crate) connection: Arc<Connection>,
    pub(crate) credentials: Credentials,
    pub(crate) timeout: Option<Duration>,
}

impl Service<http::Request<Body>> for Caller {
    type Response = http::Response<Body>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Status>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let caller = self.clone();
        Box::pin(async move {
            let mut last = None;
            let call = caller.call(request, &mut last);
            let Some(limit) = caller.timeout else { return call.await };
            timeout(limit, call).await.unwrap_or_else(|_| Err(deadline_exceeded(last.as_ref())))
        })
    }
}

impl Caller {
    async fn call(
        &self,
        request: http::Request<Body>,
        last: &mut Option<Status>,
    ) -> Result<http::Response<Body>, Status> {
        let (parts, body) = request.into_parts();
        let mut message = body.collect().await?.to_bytes();
        // A timeout of the request is that of one attempt.
        let repeated = repeatable(parts.uri.path()).filter(|_| !parts.headers.contains_key("grpc-timeout"));
        let Some(request_id) = repeated else { return self.attempt(&parts, &message).await };
        if request_id != 0 {
            message = with_request_id(message, request_id);
        }
        let (give_up, mut delays) = (Instant::now() + REPEAT_MAX, Delays::default());
        loop {
            let status = match self.attempt_unary(&parts, &message).await {
                Ok(response) => return Ok(response),
                Err(status) => status,
            };
            let error = Error::from(status.clone());
            if !error.is_interruption() || Instant::now() > give_up {
                return Err(status);
            }
            *last = Some(status);
            delays.wait(error.retry_after).await;
        }
    }

    /// Makes one attempt of a unary call, and reads its whole answer.
    async fn attempt_unary(
        &self,
        parts: &http::request::Parts,
        message: &Bytes,
    ) -> Result<http::Response<Body>, Status> {
        let (parts, body) = self.attempt(parts, message).await?.into_parts();
        let body = body.collect().await?;
        match Status::from_header_map(&parts.headers).or_else(|| Status::from_header_map(body.trailers()?)) {
            Some(status) if status.code() != Code::Ok => Err(status),
            None if parts.status.is_success() || parts.status.is_server_error() => {
                Err(Status::unavailable(format!("the answer has no status of gRPC (HTTP {})", parts.status)))
            }
            _ => Ok(http::Response::from_parts(parts, Body::new(body))),
        }
    }

    async fn attempt(&self, parts: &http::request::Parts, message: &Bytes) -> Result<http::Response<Body>, Status> {
        let mut request = http::Request::from_parts(parts.clone(), Body::new(Full::new(message.clone())));
        let signed = message.get(PREFIX_BYTES..).unwrap_or_default();
        self.credentials.add_to(request.headers_mut(), parts.uri.path(), signed)?;
        let mut channel = self.connection.channel().0;
        let failed = |error: tonic::transport::Error| Status::from_error(Box::new(error));
        poll_fn(|context| channel.poll_ready(context)).await.map_err(failed)?;
        channel.call(request).await.map_err(failed)
    }
}

/// Appends a new request id unless the message has one. A later field of a message has precedence, so it needs no decoder.
fn with_request_id(framed: Bytes, number: u32) -> Bytes {
    let message = framed.get(PREFIX_BYTES..).unwrap_or_default();
    if has_field(message, number) {
        return framed;
    }
    let mut filled = framed.to_vec();
    prost::encoding::string::encode(number, &new_id(), &mut filled);
    let length = (filled.len() - PREFIX_BYTES) as u32;
    filled[1..PREFIX_BYTES].copy_from_slice(&length.to_be_bytes());
    filled.into()
}

fn has_field(mut message: &[u8], number: u32) -> bool {
    use prost::encoding::{DecodeContext, decode_key, skip_field};
    while let Ok((field, kind)) = decode_key(&mut message) {
        if field == number {
            return true;
        }
        if skip_field(kind, field, &mut message, DecodeContext::default()).is_err() {
            return false;
        }
    }
    false
}

pub(crate) fn deadline_exceeded(last: Option<&Status>) -> Status {
    let failure = last.map_or_else(String::new, |status| format!("; the last failure: {}", status.message()));
    Status::deadline_exceeded(format!("the deadline of the call has passed{failure}"))
}

/// Waits between attempts: 0.2 s, then twice as long each time up to 10 s, or as long as the service asks for.
#[derive(Default)]
pub(crate) struct Delays(Duration);

impl Delays {
    pub(crate) async fn wait(&mut self, asked: Option<Duration>) {
        self.0 = (self.0 * 2).clamp(DELAY_MIN, DELAY_MAX);
        sleep(asked.unwrap_or(self.0)).await;
    }
}

/// The channel of a client. It may be replaced: the system notices only after many seconds that a peer has vanished.
pub(crate) struct Connection {
    endpoint: Endpoint,
    /// With a number that says which one it is.
    current: Mutex<(Channel, u64)>,
}

impl Connection {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        let current = Mutex::new((endpoint.connect_lazy(), 0));
        Self { endpoint, current }
    }

    pub(crate) fn channel(&self) -> (Channel, u64) {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Leaves a channel on which the service does not answer.
    pub(crate) fn replace(&self, silent: u64) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.1 == silent {
            *current = (self.endpoint.connect_lazy(), silent + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1::SendMessageRequest;
    use prost::Message;

    #[test]
    fn calls_that_may_be_repeated() {
        for (path, expected) in [
            ("/runnel.v1.SessionService/CreateSession", true),
            ("/runnel.v1.SessionService/SendMessage", true),
            ("/runnel.v1.RunService/GetRun", true),
            ("/runnel.v1.RunService/CancelRun", true),
            ("/runnel.v1.RunService/TailRun", false),
            ("/runnel.v1.AuthService/CreateStreamTicket", false),
            ("/runnel.v1.MemoryService/WriteMemory", false),
            ("/runnel.host.v1.HostModelService/InvokeModel", false),
        ] {
            assert_eq!(repeatable(path).is_some(), expected, "{path}");
        }
    }

    #[test]
    fn an_empty_request_id_is_filled_and_another_one_stays() {
        let number = repeatable("/runnel.v1.SessionService/SendMessage").unwrap();
        let fill = |request: &SendMessageRequest| {
            let framed = [&[0][..], &(request.encoded_len() as u32).to_be_bytes(), &request.encode_to_vec()].concat();
            let filled = with_request_id(framed.into(), number);
            assert_eq!(filled[1..PREFIX_BYTES], (filled.len() as u32 - 5).to_be_bytes());
            SendMessageRequest::decode(&filled[PREFIX_BYTES..]).unwrap()
        };
        let mut request =
            SendMessageRequest { session_id: "s-1".into(), message: "hello".into(), ..Default::default() };
        let filled = fill(&request);
        assert_eq!((filled.request_id.len(), filled.message.as_str()), (32, "hello"));
        request.request_id = "mine".into();
        assert_eq!(fill(&request), request);
    }
}
