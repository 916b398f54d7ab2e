use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;

use async_stream::try_stream;
use serde::de::DeserializeOwned;
use tonic::{Code, Status};

use crate::client::Client;
use crate::error::Error;
use crate::follow::{LastFailure, Results};
use crate::v1::{FunctionTool, Message, SendMessageRequest, ToolCall, message::Content};

/// A model that only calls functions would never end otherwise.
const ASKED_RUNS_MAX: usize = 100;

type Answer = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;

/// A tool that the model may call and that this program runs.
pub struct Function {
    tool: FunctionTool,
    call: Box<dyn Fn(&str) -> Answer + Send + Sync>,
}

impl Function {
    /// `parameters` is the JSON Schema of the arguments, which `run` gets as a type of yours. The model sees the text that `run`
    /// returns, and that of an error.
    pub fn new<A, R, F, E>(name: &str, description: &str, parameters: &str, run: R) -> Self
    where
        A: DeserializeOwned,
        R: Fn(A) -> F + Send + Sync + 'static,
        F: Future<Output = Result<String, E>> + Send + 'static,
        E: Display,
    {
        let tool = FunctionTool { name: name.into(), description: description.into(), parameters: parameters.into() };
        let call = move |arguments: &str| -> Answer {
            let answer = serde_json::from_str(arguments).map(&run);
            Box::pin(async move {
                let answer = answer.map_err(|error| format!("invalid arguments: {error}"))?;
                answer.await.map_err(|error| error.to_string())
            })
        };
        Self { tool, call: Box::new(call) }
    }
}

impl Client {
    /// Sends a message, follows its run, runs the functions that the model calls, sends their results, and follows the next run,
    /// until a run ends without pending calls. Gives the results of all these runs; the end of the last one has the answer.
    ///
    /// The functions replace the tools of the session's agent in these runs. [`Client::ask_with`] keeps other tools and settings.
    pub fn ask(&self, session_id: &str, message: &str, functions: Vec<Function>) -> Results {
        let request =
            SendMessageRequest { session_id: session_id.into(), message: message.into(), ..Default::default() };
        self.ask_with(request, functions)
    }

    /// [`Client::ask`] for a whole request. The functions join the tools of its agent, in all runs.
    pub fn ask_with(&self, mut request: SendMessageRequest, functions: Vec<Function>) -> Results {
        if !functions.is_empty() {
            let tools = request.agent.get_or_insert_default().tools.get_or_insert_default();
            tools.functions.extend(functions.iter().map(|each| each.tool.clone()));
        }
        let client = self.clone();
        Results::within(
            self.caller.timeout,
            LastFailure::default(),
            try_stream! {
                for _ in 0..ASKED_RUNS_MAX {
                    let run_id = client.sessions().send_message(request.clone()).await.map_err(Error::from)?.into_inner().run_id;
                    let mut results = client.follow(&run_id, 0);
                    let mut pending = Vec::new();
                    while let Some(entry) = results.try_next().await? {
                        pending = entry.end().map_or_else(Vec::new, |end| end.pending);
                        yield entry;
                    }
                    if pending.is_empty() {
                        return;
                    }
                    let mut messages = Vec::new();
                    for call in pending {
                        messages.push(answer(&functions, call).await);
                    }
                    let SendMessageRequest { session_id, agent, .. } = request;
                    request = SendMessageRequest { session_id, messages, agent, after_run_id: run_id, ..Default::default() };
                }
                let message = format!("the model still calls functions after {ASKED_RUNS_MAX} runs");
                Err(Error { reason: "RUNS_EXHAUSTED".into(), ..Status::new(Code::ResourceExhausted, message).into() })?;
            },
        )
    }
}

async fn answer(functions: &[Function], call: ToolCall) -> Message {
    let answer = match functions.iter().find(|each| each.tool.name == call.name) {
        Some(function) => (function.call)(&call.arguments).await,
        None => Err(format!("unknown function {:?}", call.name)),
    };
    let is_error = answer.is_err().then_some(true);
    let content = Some(Content::Text(answer.unwrap_or_else(|error| error)));
    Message { role: "tool".into(), tool_call_id: Some(call.id), content, is_error, ..Default::default() }
}
