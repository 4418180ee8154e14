"""An OpenAI-compatible server on loopback that does what a script says: answer, refuse, dawdle, break off."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Document = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """What the server does with one request."""

    content: str | Callable[[Document], str] | None = None
    """The text of the response, or what makes it from the verdict that was sent."""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    """Sent as it is, in the place of a chat completion."""
    seconds: float = 0.0
    """How long the server waits before it answers."""
    drip: float = 0.0
    """Seconds between one byte and the next."""
    cut: int = 0
    """Bytes that are announced and not sent."""
    finish: str = "stop"
    usage: tuple[int, int] | None = (1000, 200)


def given(request: Document) -> Document:
    """The data that a request carries: the verdict without its summary, and the default sentence."""
    data: Document = json.loads(request["messages"][-1]["content"])
    return data


def copying(**changes: Any) -> Step:
    """A model that copies the verdict, takes over the default sentence, and changes some fields."""

    def answer(data: Document) -> str:
        return json.dumps(data["verdict"] | {"summary": data["default_summary"]} | changes, ensure_ascii=False)

    return Step(answer)


@dataclass
class Scripted:
    """The server's script and what it was asked."""

    steps: Sequence[Step]
    """One per request, in order; the last goes on."""
    requests: list[Document] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    most_at_once: int = 0
    url: str = ""
    _under_way: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, request: Document, headers: dict[str, str]) -> Step:
        """Note a request; what to do with it."""
        with self._lock:
            step = self.steps[min(len(self.requests), len(self.steps) - 1)]
            self.requests.append(request)
            self.headers.append(headers)
            self.times.append(time.monotonic())
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
        return step

    def done(self) -> None:
        with self._lock:
            self._under_way -= 1


@contextmanager
def serving(*steps: Step) -> Iterator[Scripted]:
    """Serve the script on a free port of loopback."""
    script = Scripted(steps or (copying(),))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            step = script.next(request, {name.lower(): value for name, value in self.headers.items()})
            try:
                time.sleep(step.seconds)
                self._answer(step, _body(step, request))
            except OSError:
                pass  # The client has gone.
            finally:
                script.done()

        def _answer(self, step: Step, body: bytes) -> None:
            self.send_response(step.status)
            for name, value in (("Content-Type", "application/json"), *step.headers):
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) + step.cut))
            self.end_headers()
            for piece in [body[i : i + 1] for i in range(len(body))] if step.drip else [body]:
                self.wfile.write(piece)
                time.sleep(step.drip)
            if step.cut:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _body(step: Step, request: Document) -> bytes:
    if step.body is not None:
        return step.body
    if step.status != 200:
        return json.dumps({"error": {"message": "scripted"}}).encode()
    content = step.content(given(request)) if callable(step.content) else step.content
    usage = step.usage and {
        "prompt_tokens": step.usage[0],
        "completion_tokens": step.usage[1],
        "total_tokens": sum(step.usage),
    }
    completion = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [{"index": 0, "finish_reason": step.finish, "message": {"role": "assistant", "content": content}}],
        "usage": usage,
    }
    return json.dumps(completion, ensure_ascii=False).encode()
