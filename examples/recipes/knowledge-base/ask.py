"""Answers from a folder of texts: the agent searches it with a tool over HTTP, which this program serves, and names its sources."""

import hashlib
import hmac
import json
import math
import os
import re
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from runnel_client import ApiKey, connect, v1

FOLDER, QUESTION = Path(sys.argv[1]), sys.argv[2]
KEY = os.environ.get("RUNNEL_API_KEY")
PORT = int(os.environ.get("PORT", "8094"))
PUBLIC_URL = os.environ.get("PUBLIC_URL", f"http://127.0.0.1:{PORT}")


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


# A piece is a paragraph. Put a search engine or a vector database here: only `search` knows them.
PIECES = [
    (path.name, paragraph.strip())
    for path in sorted(FOLDER.glob("*.md"))
    for paragraph in path.read_text(encoding="utf-8").split("\n\n")
    if paragraph.strip()
]
BAGS = [Counter(words(text)) for _, text in PIECES]
SPREAD = Counter(word for bag in BAGS for word in bag)


def search(query: str) -> str:
    """Returns the best pieces, with words that are rare counting most."""

    def score(bag: Counter[str]) -> float:
        known = (word for word in words(query) if word in bag)
        return sum(math.log(1 + len(BAGS) / SPREAD[word]) for word in known) / math.sqrt(sum(bag.values()))

    best = sorted(zip(map(score, BAGS), PIECES), reverse=True)[:3]
    found = [f"[{name}] {text}" for points, (name, text) in best if points > 0]
    return "\n\n".join(found) or "Nothing found. Try other words."


class Host(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.is_from_runnel(body):
            self.send_error(401)
            return
        # A search changes nothing, so a call that comes twice needs no memory of the first one.
        answer = {"success": True, "content": search(json.loads(body)["arguments"]["query"])}
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def is_from_runnel(self, body: bytes) -> bool:
        """Without credentials, as in `runnel dev`, the service signs nothing."""
        if KEY is None:
            return True
        timestamp, nonce = self.headers["X-Timestamp"] or "0", self.headers["X-Nonce"] or ""
        mac = hmac.new(KEY.encode(), f"{timestamp}.{nonce}.".encode() + body, hashlib.sha256).hexdigest()
        given = self.headers["X-Signature"] or ""
        return abs(time.time() - int(timestamp)) < 120 and hmac.compare_digest(f"sha256={mac}", given)

    def log_message(self, format: str, *args: object) -> None:
        pass


SEARCH = v1.RemoteTool(
    name="search",
    description="Searches the handbook. Returns paragraphs with their files.",
    parameters=json.dumps({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}),
)
AGENT = v1.Agent(
    name="handbook",
    system_prompt="Answer from the results of search alone, and name the file of each fact in brackets.",
    tools=v1.AgentTools(remote=[SEARCH]),
)

server = ThreadingHTTPServer(("127.0.0.1", PORT), Host)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = os.environ.get("RUNNEL_URL", "http://127.0.0.1:8090")
with connect(url, ApiKey(KEY) if KEY else None) as runnel:
    callback = v1.Callback(base_url=PUBLIC_URL)
    session = runnel.sessions.create_session(v1.CreateSessionRequest(agent=AGENT, callback=callback))
    following = runnel.follow(runnel.send(session.session_id, QUESTION).run_id)
    for _ in following:
        pass
    print(following.end.output if following.end.state == "completed" else f"no answer: {following.end.error}")
