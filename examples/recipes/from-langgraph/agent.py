"""A program for LangGraph Platform, moved to Runnel: a thread, a streamed run, an interrupt for a person, and another try from an earlier
checkpoint. Above each part is what it was."""

import os
import sys

from runnel_client import ApiKey, connect, v1

KEY = os.environ.get("RUNNEL_API_KEY")
runnel = connect(os.environ.get("RUNNEL_URL", "http://127.0.0.1:8090"), ApiKey(KEY) if KEY else None)
QUESTION, OTHER = sys.argv[1], sys.argv[2]

# Was: a graph of two nodes, model and tools, with interrupt_before=["tools"], and an assistant in langgraph.json.
AGENT = v1.Agent(name="clerk", tools=v1.AgentTools(builtin=["list_dir"], approve=["list_dir"]))


def stream(thread: str, text: str) -> str:
    """Was: client.runs.stream(thread, "clerk", input=…, stream_mode="messages"), and a second run with Command(resume=…)."""
    run = runnel.send(thread, text, request_id=f"{thread}-{text}")
    following = runnel.follow(run.run_id)
    for result in following:
        if result.WhichOneof("payload") == "approval_requested":
            decide(result.approval_requested)
    end = following.end
    return end.output if end.state == "completed" else f"failed: {end.failure_code}: {end.error}"


def decide(request: v1.ApprovalRequested) -> None:
    """The run waits in the service meanwhile, also over restarts: no second run resumes it."""
    print(f"May {request.tool_name} run with {request.parameters}? (y/n)", file=sys.stderr)
    wanted = sys.stdin.readline().strip() == "y"
    runnel.approvals.decide_approval(
        v1.DecideApprovalRequest(
            approval_id=request.approval_id,
            digest=request.digest,
            decision=v1.Approval.DECISION_APPROVE if wanted else v1.Approval.DECISION_REJECT,
            decided_by=os.environ.get("USER", "clerk"),
        )
    )


# Was: client.threads.create().
thread = runnel.sessions.create_session(v1.CreateSessionRequest(agent=AGENT))
print(stream(thread.session_id, QUESTION))

# Was: client.threads.get_history(thread), and a run with checkpoint_id. A fork is a session of its own; the first one stays as it is.
first = runnel.sessions.list_messages(v1.ListMessagesRequest(session_id=thread.session_id)).messages[0]
fork = v1.Fork(session_id=thread.session_id, message_count=first.number)
branch = runnel.sessions.create_session(v1.CreateSessionRequest(fork=fork))
print(stream(branch.session_id, OTHER))
runnel.close()
