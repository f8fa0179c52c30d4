"""Client for the HTTP API of AxiomMind, in Python 3.10 and the standard library alone.

Copy this file. Names are those of the server's /openapi.json; a Python keyword takes an underscore: ``from_``.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Answer = dict[str, Any]

URL = "http://127.0.0.1:7390"
TIMEOUT = 300.0  # seconds; a dream or an erasure takes long
RETRIES = 2
LONGEST_WAIT = 10.0  # seconds between two attempts, whatever Retry-After says


class Evidence(TypedDict):
    message_index: int
    quote: str
    aligned: bool  # the quote is in the message
    proven: bool  # whole sentences of the message state it
    span: dict[str, int]


class Entry(TypedDict):
    """A memory: one statement, with the quotes that prove it."""

    entry_id: str
    entry_type: str
    title: str
    session_id: str
    stage: str
    status: str
    evidence: list[Evidence]
    evidence_proven: bool
    occurred_at: str
    proofs: NotRequired[list[Answer]]  # entry() checks the evidence against the source


class Hit(Entry):
    """A search result. Only one of the kind entry has an entry_id and evidence."""

    kind: str  # entry, task, message or fact
    score: float
    weak: bool  # it may have nothing to do with the query
    content: NotRequired[str]  # a message's text
    message: NotRequired[Answer]  # its event_id and index; entry() takes "{event_id}/{index}"
    tracked: NotRequired[Answer]  # a task's id, status and priority
    fact: NotRequired[Answer]  # a fact's id, category and confidence


class Task(TypedDict):
    entity_id: str
    title: str
    task_status: str
    priority: str


class TaskView(TypedDict):
    task: Task
    blockers: list[Answer]


class Fact(TypedDict):
    id: str
    content: str
    category: str
    confidence: float
    status: str
    version: int


class Problem(Exception):
    """A refused or failed request. ``next`` is the step to take; ``request_id`` finds it in the server's log."""

    def __init__(self, status: int, text: str, request_id: str) -> None:
        try:
            answer = json.loads(text)
        except ValueError:  # A proxy's page.
            answer = None
        self.answer: Answer = answer if isinstance(answer, dict) else {}
        self.status, self.request_id = status, request_id
        self.detail = str(self.answer.get("detail") or text[:500])
        self.next = str(self.answer.get("next") or "")
        super().__init__(f"{status}: {self.detail}" + (f" (next: {self.next})" if self.next else ""))


class Client:
    """A client of one server, which threads may share. Its methods raise Problem and OSError.

    A request is tried again if the connection breaks or the server is away for a moment. Each write has an idempotency
    key, so it is done once. Pass your own ``idempotency_key`` to a write that you may repeat.
    """

    def __init__(self, url: str = URL, token: str = "", timeout: float = TIMEOUT, actor: str = "") -> None:
        self._url = urlsplit(url.rstrip("/"))
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise ValueError(f"url {url!r}: want one like {URL}")
        self._timeout = timeout
        self._headers = {"Authorization": f"Bearer {token}", "Axiommind-Actor": actor}

    @classmethod
    def from_env(cls, timeout: float = TIMEOUT, actor: str = "") -> Client:
        """Reads AXIOMMIND_URL, and AXIOMMIND_TOKEN or AXIOMMIND_TOKEN_FILE; by default, the server on this machine."""
        env = os.environ
        token = env.get("AXIOMMIND_TOKEN") or Path(env.get("AXIOMMIND_TOKEN_FILE") or _token_file()).read_text().strip()
        return cls(env.get("AXIOMMIND_URL") or URL, token, timeout, actor)

    def request(self, method: str, path: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Asks any endpoint. A name in braces in the path takes its parameter; a parameter of None is left out."""
        rest = {name.rstrip("_"): value for name, value in (params or {}).items() if value is not None}
        headers, body = dict(self._headers), None
        key = rest.pop("idempotency_key", None) or uuid4()
        if method != "GET":
            headers["Idempotency-Key"] = str(key)
        target = self._url.path + re.sub(r"{(\w+)}", lambda name: _segment(rest.pop(name[1])), path)
        if method in ("GET", "DELETE"):
            target += "?" + urlencode(rest, doseq=True)  # The server reads True as true.
        else:
            headers["Content-Type"], body = "application/json", json.dumps(rest).encode()
        for attempt in range(RETRIES + 1):
            wait = 0.5 * 2**attempt
            try:
                response, text = self._send(method, target, headers, body)
            except (ConnectionError, HTTPException) as error:
                if attempt == RETRIES:
                    raise ConnectionError(f"{method} {self._url.geturl()}: {error!r}") from error
            else:
                # A failure in plain JSON is the answer of a server that is there, such as the checks of health.
                plain = response.headers.get_content_type() == "application/json"
                if plain and (response.status < 300 or path == "/v1/health"):
                    return cast(Answer, json.loads(text))
                if response.status not in (502, 503, 504) or plain or attempt == RETRIES:
                    raise Problem(response.status, text, response.headers.get("X-Request-Id", ""))
                after = response.headers.get("Retry-After", "")
                wait = min(float(after), LONGEST_WAIT) if after.isdecimal() else wait
            time.sleep(wait)
        raise AssertionError("unreachable")

    def _send(self, method: str, target: str, headers: dict[str, str], body: bytes | None) -> tuple[HTTPResponse, str]:
        kind = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
        with closing(kind(self._url.hostname or "", self._url.port, timeout=self._timeout)) as connection:
            # The server reads UTF-8, in which http.client would not write a text.
            connection.request(method, target, body, {name: value.encode() for name, value in headers.items()})
            response = connection.getresponse()
            return response, response.read().decode(errors="replace")

    def pages(self, path: str, **params: Any) -> Iterator[Any]:
        """Yields all items of a list, or all hits of a search. ``limit`` is the size of a page."""
        while True:
            page = self.request("GET", path, params)
            yield from page.get("items") or page.get("hits") or []
            if not page.get("next"):
                return
            params["cursor"] = page["next"]

    def remember(self, session: str, messages: Sequence[Mapping[str, str]], now: bool = False, **params: Any) -> Answer:
        """Queues messages of role and content (and id and at). With ``now``, they are memories in some seconds."""
        return self.request("POST", "/v1/sessions", {"session": session, "messages": messages, "now": now, **params})

    def search(self, query: str, **params: Any) -> list[Hit]:
        """Returns the best memories (limit=5). Filters: kind, type, stage, session, from_, to, as_of and more."""
        hits = self.request("GET", "/v1/search", {"query": query, **params})["hits"]
        return [cast(Hit, {**hit, "evidence": hit["evidence"] or []}) for hit in hits or []]

    def context(self, query: str | None = None, **params: Any) -> Answer:
        """Returns the memories for a prompt as ``text``, within ``max_tokens``."""
        return self.request("GET", "/v1/context", {"query": query, **params})

    def entry(self, entry: str, **params: Any) -> Entry:
        return cast(Entry, self.request("GET", "/v1/entries/{entry}", {"entry": entry, **params}))

    def correct(self, entry: str, statement: str, **params: Any) -> Answer:
        return self.request("POST", "/v1/entries/{entry}/correct", {"entry": entry, "with": statement, **params})

    def confirm(self, entry: str, **params: Any) -> Answer:
        return self.request("POST", "/v1/entries/{entry}/confirm", {"entry": entry, **params})

    def retire(self, entry: str, because: str, **params: Any) -> Answer:
        return self.request("POST", "/v1/entries/{entry}/retire", {"entry": entry, "because": because, **params})

    def restore(self, entry: str, **params: Any) -> Answer:
        return self.request("POST", "/v1/entries/{entry}/restore", {"entry": entry, **params})

    def tasks(self, **params: Any) -> Iterator[TaskView]:
        return self.pages("/v1/tasks", **params)

    def task(self, task: str, **params: Any) -> TaskView:
        return cast(TaskView, self.request("GET", "/v1/tasks/{task}", {"task": task, **params}))

    def set_task(self, task: str, **params: Any) -> Answer:
        """Changes status, priority or title, and adds or removes blockers: block=[…], unblock=[…]."""
        return self.request("PATCH", "/v1/tasks/{task}", {"task": task, **params})

    def confirm_task(self, task: str, **params: Any) -> Answer:
        """Closes a task that is reported done."""
        return self.request("POST", "/v1/tasks/{task}/confirm", {"task": task, **params})

    def facts(self, **params: Any) -> Iterator[Fact]:
        return self.pages("/v1/facts", **params)

    def add_fact(self, content: str, **params: Any) -> Answer:
        return self.request("POST", "/v1/facts", {"content": content, **params})

    def update_fact(self, fact: str, **params: Any) -> Answer:
        return self.request("PATCH", "/v1/facts/{fact}", {"fact": fact, **params})

    def delete_fact(self, fact: str, **params: Any) -> Answer:
        return self.request("DELETE", "/v1/facts/{fact}", {"fact": fact, **params})

    def profile(self, **params: Any) -> Answer:
        return self.request("GET", "/v1/profile", params)

    def set_profile(self, section: str, text: str, **params: Any) -> Answer:
        return self.request("PUT", "/v1/profile/{section}", {"section": section, "text": text, **params})

    def core_memory(self, **params: Any) -> Answer:
        """Returns MEMORY.md as ``text``, and its items with their sources."""
        return self.request("GET", "/v1/memory", params)

    def versions(self, **params: Any) -> Iterator[Answer]:
        return self.pages("/v1/memory/versions", **params)

    def dreams(self, **params: Any) -> Iterator[Answer]:
        return self.pages("/v1/dreams", **params)

    def dream(self, **params: Any) -> Answer:
        """Consolidates the daily records into core memory, and waits. ``dry_run=True`` only shows the changes."""
        return self.request("POST", "/v1/dreams", params)

    def builds(self, **params: Any) -> Iterator[Answer]:
        return self.pages("/v1/builds", **params)

    def build(self, build: str) -> Answer:
        return self.request("GET", "/v1/builds/{build}", {"build": build})

    def retry(self, build: str, **params: Any) -> Answer:
        return self.request("POST", "/v1/builds/{build}/retry", {"build": build, **params})

    def conflicts(self, **params: Any) -> Iterator[Answer]:
        return self.pages("/v1/conflicts", **params)

    def resolve(self, conflict: str, keep: str, **params: Any) -> Answer:
        """Keeps the entry that is right, or "both"."""
        return self.request("POST", "/v1/conflicts/{conflict}/resolve", {"conflict": conflict, "keep": keep, **params})

    def proposals(self, **params: Any) -> Iterator[Answer]:
        return self.pages("/v1/proposals", **params)

    def accept(self, proposal: str, **params: Any) -> Answer:
        return self.request("POST", "/v1/proposals/{proposal}/accept", {"proposal": proposal, **params})

    def reject(self, proposal: str, **params: Any) -> Answer:
        return self.request("POST", "/v1/proposals/{proposal}/reject", {"proposal": proposal, **params})

    def decisions(self, **params: Any) -> Iterator[Answer]:
        return self.pages("/v1/decisions", **params)

    def record(self, decision: str, because_of: Sequence[str], **params: Any) -> Answer:
        """Records a decision and the verified entries that it rests on."""
        return self.request("POST", "/v1/decisions", {"decision": decision, "because_of": because_of, **params})

    def forget_preview(self, **target: Any) -> Answer:
        return self.request("POST", "/v1/forget/preview", target)

    def forget(self, **target: Any) -> Answer:
        """Erases a session, user, project or query from every store, for good, and waits."""
        return self.request("POST", "/v1/forget", target)

    def health(self) -> list[Answer]:
        """Returns the checks of all servers: name, ok, note and, for a failed one, mend."""
        return list(self.request("GET", "/v1/health")["items"])


def _token_file() -> Path:
    """Returns the path where ``starter serve`` keeps its token."""
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/axiommind/serve.token"
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (state if state.is_absolute() else Path.home() / ".local/state") / "axiommind/serve.token"


def _segment(value: object) -> str:
    text = quote(str(value), safe="")
    return text if text.strip(".") else text.replace(".", "%2E")  # "." and ".." are steps in a path.
