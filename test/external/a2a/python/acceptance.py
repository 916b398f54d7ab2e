"""Acceptance of A2A by the official Python client, unmodified. Each item runs over each binding that it names.

Arguments: the service, its gRPC target, a key, another client's key, and a service that allows no private networks.
"""

import asyncio
import json
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
import httpx
from a2a.client import ClientCallContext, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as pb
from a2a.utils import errors
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
from google.protobuf.timestamp_pb2 import Timestamp
from jwt import PyJWK

URL, TARGET, KEY, OTHER_KEY, GUARDED_URL = sys.argv[1:6]
BINDINGS = ["JSONRPC", "HTTP+JSON", "GRPC"]
S = pb.TaskState
CONTEXT = ClientCallContext(service_parameters={"Authorization": f"Bearer {KEY}"})
STRANGER = ClientCallContext(service_parameters={"Authorization": f"Bearer {OTHER_KEY}"})


async def connect(binding, url=URL, streaming=True):
    config = ClientConfig(
        supported_protocol_bindings=[binding],
        use_client_preference=True,
        streaming=streaming,
        grpc_channel_factory=grpc.aio.insecure_channel,
    )
    return await ClientFactory(config).create_from_url(url)


def say(text, tenant="", context_id="", task_id="", **configuration):
    message = pb.Message(
        message_id=str(uuid.uuid4()),
        role=pb.Role.ROLE_USER,
        parts=[pb.Part(text=text)],
        context_id=context_id,
        task_id=task_id,
    )
    return pb.SendMessageRequest(
        tenant=tenant, message=message, configuration=pb.SendMessageConfiguration(**configuration)
    )


async def events_of(stream):
    return [event async for event in stream]


async def send(client, request, context=CONTEXT):
    """Returns the task of a client that does not stream."""
    [event] = await events_of(client.send_message(request, context=context))
    return event.task


def text_of(task):
    return "".join(part.text for artifact in task.artifacts for part in artifact.parts)


def fold(events):
    """Returns the text and the states of a stream."""
    texts, states = {}, []
    for event in events:
        if event.HasField("task"):
            states.append(event.task.status.state)
            texts = {a.artifact_id: "".join(p.text for p in a.parts) for a in event.task.artifacts}
        elif event.HasField("status_update"):
            states.append(event.status_update.status.state)
        else:
            update = event.artifact_update
            text = "".join(part.text for part in update.artifact.parts)
            known = texts.get(update.artifact.artifact_id, "") if update.append else ""
            texts[update.artifact.artifact_id] = known + text
    return "".join(texts.values()), states


async def refused(call, kind, text=""):
    try:
        await (events_of(call) if hasattr(call, "__aiter__") else call)
    except kind as error:
        assert text in str(error), (text, error)
        return error
    raise AssertionError(f"not refused: {text}")


async def item_1(binding):
    async with httpx.AsyncClient() as http:
        card = await http.get(f"{URL}/.well-known/agent-card.json")
        again = await http.get(card.url, headers={"If-None-Match": card.headers["etag"]})
    assert (card.status_code, again.status_code) == (200, 304)
    await (await connect(binding)).close()


async def item_2(binding):
    client = await connect(binding, streaming=False)
    task = await send(client, say("go", "words"))
    assert (task.status.state, text_of(task)) == (S.TASK_STATE_COMPLETED, "one two three"), task


async def item_3(binding):
    client = await connect(binding)
    events = await events_of(client.send_message(say("go", "words"), context=CONTEXT))
    assert events[0].HasField("task")
    text, states = fold(events)
    assert (text, states[-1]) == ("one two three", S.TASK_STATE_COMPLETED), (text, states)


async def item_4(binding):
    # The client of httpx has its own time limit of 5 s.
    client = await connect(binding)
    text, states = fold(await events_of(client.send_message(say("go", "silent"), context=CONTEXT)))
    assert (text, states[-1]) == ("late", S.TASK_STATE_COMPLETED), (text, states)


async def begin(client, tenant):
    return await send(client, say("go", tenant, return_immediately=True))


async def until(client, task_id, state):
    while True:
        task = await client.get_task(pb.GetTaskRequest(id=task_id), context=CONTEXT)
        if task.status.state == state:
            return task
        await asyncio.sleep(0.05)


async def item_6(binding):
    client = await connect(binding, streaming=False)
    task = await begin(client, "slow")
    await until(client, task.id, S.TASK_STATE_WORKING)
    request = pb.SubscribeToTaskRequest(id=task.id)
    leaving = (await connect(binding)).subscribe(request, context=CONTEXT)
    assert (await anext(leaving)).HasField("task")
    staying = asyncio.create_task(events_of((await connect(binding)).subscribe(request, context=CONTEXT)))
    await leaving.aclose()
    text, states = fold(await staying)
    assert (text, states[-1]) == ("one two", S.TASK_STATE_COMPLETED), (text, states)


async def item_7(binding):
    client = await connect(binding, streaming=False)
    task = await begin(client, "slow")
    assert task.status.state in (S.TASK_STATE_SUBMITTED, S.TASK_STATE_WORKING)
    await until(client, task.id, S.TASK_STATE_COMPLETED)
    for length, count in ((0, 0), (2, 1), (None, 1)):
        request = pb.GetTaskRequest(id=task.id, history_length=length)
        found = await client.get_task(request, context=CONTEXT)
        assert len(found.history) == count, (length, found)


async def item_8(binding):
    client = await connect(binding, streaming=False)
    task = await send(client, say("go", "careful"))
    assert task.status.state == S.TASK_STATE_AUTH_REQUIRED, task
    [asked] = [part.data.struct_value for part in task.status.message.parts if part.HasField("data")]
    stream = (await connect(binding)).subscribe(pb.SubscribeToTaskRequest(id=task.id), context=CONTEXT)
    first = await anext(stream)
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}) as http:
        url = f"{URL}/v1/approvals/{asked['approvalId']}:decide"
        wrong = await http.post(url, json={"digest": "0" * 64, "decision": "reject"})
        assert wrong.status_code >= 400, wrong.text
        right = await http.post(url, json={"digest": asked["digest"], "decision": "reject"})
        assert right.status_code == 200, right.text
    text, states = fold([first, *await events_of(stream)])
    assert (text, states[-1]) == ("not allowed", S.TASK_STATE_COMPLETED), (text, states)


async def item_9(binding):
    client = await connect(binding, streaming=False)
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}) as http:
        run_id = (await http.post(f"{URL}/v1/exchanges", json={"task": "Write."})).json()["run_id"]
    task = await until(client, run_id, S.TASK_STATE_INPUT_REQUIRED)
    assert "Write." in task.status.message.parts[0].text
    inbox = say("[DONE]\nThere.\n[/DONE]\n", task_id=run_id)
    await refused(client.send_message(inbox, context=STRANGER), errors.TaskNotFoundError)
    done = await send(client, inbox)
    assert (done.status.state, text_of(done)) == (S.TASK_STATE_COMPLETED, "There."), done


async def item_10(binding):
    client = await connect(binding, streaming=False)
    task = await begin(client, "slow")
    request = pb.CancelTaskRequest(id=task.id)
    cancelled = await client.cancel_task(request, context=CONTEXT)
    assert cancelled.status.state == S.TASK_STATE_CANCELED, cancelled
    await refused(client.cancel_task(request, context=CONTEXT), errors.TaskNotCancelableError)


async def item_11(binding):
    client = await connect(binding, streaming=False)
    context_id = str(uuid.uuid4())
    ids = [(await send(client, say("go", "assistant", context_id))).id for _ in range(5)]
    found, token, pages = [], "", 0
    while pages == 0 or token:
        request = pb.ListTasksRequest(context_id=context_id, page_size=2, page_token=token)
        page = await client.list_tasks(request, context=CONTEXT)
        assert page.total_size == 5
        found += page.tasks
        token, pages = page.next_page_token, pages + 1
    assert ([task.id for task in found], pages) == (ids[::-1], 3)
    times = [task.status.timestamp.ToNanoseconds() for task in found]
    assert times == sorted(times, reverse=True)

    async def count(**filters):
        request = pb.ListTasksRequest(context_id=context_id, **filters)
        return (await client.list_tasks(request, context=CONTEXT)).total_size

    assert await count(status=S.TASK_STATE_FAILED) == 0
    assert await count(status=S.TASK_STATE_COMPLETED) == 5
    assert await count(status_timestamp_after=Timestamp(seconds=32503680000)) == 0
    assert await count(status_timestamp_after=found[1].status.timestamp) >= 1
    # Over HTTP+JSON the client knows the names of A2A alone, and shows others by their HTTP status.
    await refused(client.list_tasks(pb.ListTasksRequest(page_size=101), context=CONTEXT), errors.A2AError)


class Receiver(BaseHTTPRequestHandler):
    posts = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        Receiver.posts.append((self.path, dict(self.headers), json.loads(body)))
        self.send_response(500 if len([each for each in Receiver.posts if each[0] == self.path]) == 1 else 200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


async def item_12(binding):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/{uuid.uuid4()}"
    client = await connect(binding, streaming=False)
    task = await begin(client, "slow")

    def config(config_id, path):
        return pb.TaskPushNotificationConfig(
            id=config_id,
            task_id=task.id,
            url=f"{url}/{path}",
            token="known",
            authentication=pb.AuthenticationInfo(scheme="Bearer", credentials="secret"),
        )

    for config_id in ("kept", "removed"):
        made = await client.create_task_push_notification_config(config(config_id, config_id), context=CONTEXT)
        assert (made.id, made.task_id) == (config_id, task.id)
    # 17: the deletion answers without an error, and its repetition too.
    for _ in range(2):
        request = pb.DeleteTaskPushNotificationConfigRequest(task_id=task.id, id="removed")
        await client.delete_task_push_notification_config(request, context=CONTEXT)
    listed = await client.list_task_push_notification_configs(
        pb.ListTaskPushNotificationConfigsRequest(task_id=task.id), context=CONTEXT
    )
    assert [each.id for each in listed.configs] == ["kept"]
    got = await client.get_task_push_notification_config(
        pb.GetTaskPushNotificationConfigRequest(task_id=task.id, id="kept"), context=CONTEXT
    )
    assert got.url.endswith("/kept")
    own = lambda: [post for post in Receiver.posts if post[0].startswith("/" + url.rsplit("/", 1)[1])]
    while len(own()) < 2:
        await asyncio.sleep(0.05)
    assert [path.rsplit("/", 1)[1] for path, _, _ in own()] == ["kept", "kept"]
    _, headers, body = own()[1]
    headers = {name.lower(): value for name, value in headers.items()}
    assert headers["authorization"] == "Bearer secret" and headers["x-a2a-notification-token"] == "known"
    assert body["task"]["status"]["state"] == "TASK_STATE_COMPLETED", body
    guarded = await connect("JSONRPC", GUARDED_URL, streaming=False)
    wanted = say("go", task_push_notification_config=pb.TaskPushNotificationConfig(url=url))
    await refused(guarded.send_message(wanted, context=CONTEXT), errors.InvalidParamsError, "url")
    server.shutdown()


async def item_13(binding):
    client = await connect(binding, streaming=False)
    unknown = str(uuid.uuid4())
    get = lambda: client.get_task(pb.GetTaskRequest(id=unknown), context=CONTEXT)
    await refused(get(), errors.TaskNotFoundError)
    done = await send(client, say("go", "words"))
    await refused(
        (await connect(binding)).subscribe(pb.SubscribeToTaskRequest(id=done.id), context=CONTEXT), errors.UnsupportedOperationError
    )
    await refused(client.send_message(say("x", task_id=done.id), context=CONTEXT), errors.UnsupportedOperationError)
    if binding == "GRPC":
        return
    for version in ("", "9.9"):
        headers = {"Authorization": f"Bearer {KEY}", "A2A-Version": version}
        async with httpx.AsyncClient(headers=headers) as http:
            if binding == "JSONRPC":
                call = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": done.id}}
                [detail] = (await http.post(f"{URL}/a2a", json=call)).json()["error"]["data"]
            else:
                [detail] = (await http.get(f"{URL}/a2a/tasks/{done.id}")).json()["error"]["details"]
        assert (detail["reason"], detail["domain"]) == ("VERSION_NOT_SUPPORTED", "a2a-protocol.org"), detail


async def item_14(binding):
    client = await connect(binding, streaming=False)
    task = await send(client, say("go", "words"))
    request = pb.GetTaskRequest(id=task.id)
    await refused(client.get_task(request, context=STRANGER), errors.TaskNotFoundError)
    await refused(client.get_task(request), errors.A2AError)
    async with httpx.AsyncClient(headers={"A2A-Version": "1.0"}) as http:
        answer = await http.get(f"{URL}/a2a/tasks/{task.id}")
    assert answer.status_code == 401 and "www-authenticate" in answer.headers


async def item_15(binding):
    async with httpx.AsyncClient() as http:
        keys = {key["kid"]: key for key in (await http.get(f"{URL}/.well-known/jwks.json")).json()["keys"]}
    verify = create_signature_verifier(lambda kid, jku: PyJWK(keys[kid], algorithm="EdDSA"), ["EdDSA"])
    config = ClientConfig(
        supported_protocol_bindings=[binding],
        use_client_preference=True,
        grpc_channel_factory=grpc.aio.insecure_channel,
    )
    client = await ClientFactory(config).create_from_url(URL, signature_verifier=verify)
    request = pb.GetExtendedAgentCardRequest()
    card = await client.get_extended_agent_card(request, context=CONTEXT, signature_verifier=verify)
    assert "words" in [skill.id for skill in card.skills]
    card.name += "2"
    try:
        verify(card)
    except InvalidSignaturesError:
        return
    raise AssertionError("a changed card passed")


async def item_17(binding):
    # The deletion is in item 12. Unknown members of JSON are ignored.
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {KEY}", "A2A-Version": "1.0"}) as http:
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "go", "odd": 1}], "odd": {"a": []}}
        body = {"message": message, "tenant": "words", "odd": True}
        if binding == "JSONRPC":
            call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": body}
            answer = (await http.post(f"{URL}/a2a", json=call)).json()["result"]
        else:
            answer = (await http.post(f"{URL}/a2a/message:send", json=body)).json()
    assert answer["task"]["status"]["state"] == "TASK_STATE_COMPLETED", answer


ITEMS = [item_1, item_2, item_3, item_4, item_6, item_7, item_8, item_9]
ITEMS += [item_10, item_11, item_12, item_13, item_14, item_15]


async def main():
    for item in ITEMS:
        for binding in BINDINGS:
            if item is item_4 and binding != "JSONRPC":
                continue
            await asyncio.wait_for(item(binding), 60)
            print(f"passed {item.__name__} {binding}", flush=True)
    for binding in BINDINGS[:2]:
        await item_17(binding)
        print(f"passed item_17 {binding}", flush=True)


asyncio.run(main())
