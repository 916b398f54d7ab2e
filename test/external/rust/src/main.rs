//! `follow <url> <run id>`, with RUNNEL_API_KEY: prints the text of a run once, through every break of the connection, by the rules of
//! docs/resuming.md.

mod contract {
    #![allow(dead_code, clippy::all)]
    include!(concat!(env!("OUT_DIR"), "/contract.rs"));
}

use std::{env, error::Error, time::Duration};

use contract::google::rpc;
use contract::runnel::v1::{
    run_result::Payload, run_service_client::RunServiceClient, RunResult, TailRunRequest,
};
use prost::Message;
use tokio::time::{sleep, timeout};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

/// The service sends something every 15 s.
const SILENCE_MAX: Duration = Duration::from_secs(45);
const DELAY_MIN: Duration = Duration::from_millis(200);
const DELAY_MAX: Duration = Duration::from_secs(10);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let [_, url, run_id] = arguments.as_slice() else {
        return Err("usage: follow <url> <run id>".into());
    };
    let endpoint = Endpoint::from_shared(url.clone())?
        .http2_keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(10));
    let text = Reader::new(
        endpoint.connect_lazy(),
        run_id,
        env::var("RUNNEL_API_KEY").ok(),
    )
    .follow()
    .await?;
    println!("{text}");
    Ok(())
}

struct Reader {
    runs: RunServiceClient<Channel>,
    run_id: String,
    key: Option<String>,
    /// The last result that arrived.
    sequence: i64,
    /// Text with the sequence of its result: a later result may make it void.
    pieces: Vec<(i64, String)>,
}

impl Reader {
    fn new(channel: Channel, run_id: &str, key: Option<String>) -> Self {
        let runs = RunServiceClient::new(channel);
        Self {
            runs,
            run_id: run_id.into(),
            key,
            sequence: 0,
            pieces: Vec::new(),
        }
    }

    /// Returns the text of the run.
    async fn follow(mut self) -> Result<String, Status> {
        let mut delay = DELAY_MIN;
        loop {
            let before = self.sequence;
            let pause = match self.read().await {
                Ok(true) => return Ok(self.pieces.into_iter().map(|(_, piece)| piece).collect()),
                Ok(false) => None,
                Err(status) if is_final(&status) => return Err(status),
                Err(status) => {
                    eprintln!("{:?}: going on after {}", status.code(), self.sequence);
                    retry_after(&status)
                }
            };
            if self.sequence > before {
                delay = DELAY_MIN;
            }
            sleep(pause.unwrap_or(delay)).await;
            delay = (delay * 2).min(DELAY_MAX);
        }
    }

    /// Reads one stream. Returns whether the run has ended.
    async fn read(&mut self) -> Result<bool, Status> {
        let mut request = Request::new(TailRunRequest {
            run_id: self.run_id.clone(),
            after: self.sequence,
        });
        if let Some(key) = &self.key {
            let value = format!("Bearer {key}")
                .parse()
                .map_err(|_| Status::unauthenticated("the key is not ASCII"))?;
            request.metadata_mut().insert("authorization", value);
        }
        let silent = |_| Status::unavailable("the stream was silent");
        let opening = timeout(SILENCE_MAX, self.runs.tail_run(request));
        let mut stream = opening.await.map_err(silent)??.into_inner();
        while let Some(response) = timeout(SILENCE_MAX, stream.message())
            .await
            .map_err(silent)??
        {
            for result in response.results {
                if result.sequence > self.sequence + 1 {
                    return Err(Status::unavailable("a result is missing"));
                }
                if result.sequence == self.sequence + 1 && self.take(result) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Takes the next result. Returns whether it is the last one.
    fn take(&mut self, result: RunResult) -> bool {
        self.sequence = result.sequence;
        match result.payload {
            Some(Payload::MessageDelta(delta)) => {
                self.pieces
                    .push((result.sequence, delta.chunk.unwrap_or_default().content));
                eprintln!("text");
            }
            Some(Payload::TurnRestarted(restarted)) => {
                self.pieces
                    .retain(|(sequence, _)| *sequence < restarted.from_sequence);
            }
            Some(Payload::RunCompleted(_) | Payload::RunFailed(_)) => return true,
            // Also a type that is newer than this program.
            _ => {}
        }
        false
    }
}

/// The same call gets the same answer again.
fn is_final(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::InvalidArgument
            | Code::Unauthenticated
            | Code::PermissionDenied
            | Code::NotFound
            | Code::OutOfRange
            | Code::FailedPrecondition
            | Code::Unimplemented
            | Code::DataLoss
    )
}

/// How long the service wants its caller to wait.
fn retry_after(status: &Status) -> Option<Duration> {
    let details = rpc::Status::decode(status.details()).ok()?.details;
    let info = details
        .iter()
        .find(|each| each.type_url.ends_with("/google.rpc.RetryInfo"))?;
    let delay = rpc::RetryInfo::decode(info.value.as_slice())
        .ok()?
        .retry_delay?;
    delay.try_into().ok()
}
