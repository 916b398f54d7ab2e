"""A program for OpenAI's Assistants API, moved to Runnel. Above each part is what it was."""

import os
import sys

from runnel_client import ApiKey, Function, connect, v1

KEY = os.environ.get("RUNNEL_API_KEY")
runnel = connect(os.environ.get("RUNNEL_URL", "http://127.0.0.1:8090"), ApiKey(KEY) if KEY else None)


# Was: tools=[{"type": "function", "function": {…}}], and a branch for `requires_action` that submits the outputs of tools.
def grade(answer: int) -> str:
    return "right" if answer == 42 else "wrong"


ANSWER = {"type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"]}
FUNCTIONS = [Function("grade", grade, "Grades an answer.", ANSWER)]

# Was: client.beta.assistants.create(name=…, instructions=…, model=…). An agent needs no id: it goes with the session, or is a preset of
# the service.
TUTOR = v1.Agent(name="tutor", system_prompt="You teach mathematics. Grade answers with the tool.")

# Was: client.beta.threads.create().
thread = runnel.sessions.create_session(v1.CreateSessionRequest(agent=TUTOR))

for question in sys.argv[1:]:
    # Was: threads.messages.create(…), threads.runs.create(…), and a loop that polls runs.retrieve(…) and submits outputs of tools.
    run = runnel.ask(thread.session_id, question, FUNCTIONS)
    for result in run:
        if result.WhichOneof("payload") == "tool_call_started":
            print(f"calls {result.tool_call_started.tool_name}", file=sys.stderr)
    # Was: run.status == "completed", and the newest message of the thread.
    print(run.end.output if run.end.state == "completed" else f"failed: {run.end.failure_code}: {run.end.error}")

# Was: client.beta.threads.messages.list(thread.id, order="asc").
for message in runnel.sessions.list_messages(v1.ListMessagesRequest(session_id=thread.session_id)).messages:
    print(f"{message.number}. {message.message.role}: {message.message.text}", file=sys.stderr)
runnel.close()
