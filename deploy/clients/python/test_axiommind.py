"""Tests of axiommind.py against the server of AXIOMMIND_URL and AXIOMMIND_TOKEN. They leave two sessions there."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from unittest import mock
from uuid import uuid4

sys.dont_write_bytecode = True  # Leave no cache in the repository.
import axiommind  # noqa: E402
from axiommind import Client, Problem  # noqa: E402

T = TypeVar("T")

SENTENCE = "We decided to keep the events in ClickHouse."
HARD = """a b/c//d?e=f&g#h;i+j 100% %2F %25 "double" 'single' back\\slash <x> 한글 日本語 🎉 ../."""
UNKNOWN = "no-such-id"


def word() -> str:
    return "w" + uuid4().hex[:12]


def wait_for(find: Callable[[], T | None], seconds: float = 60) -> T:
    end = time.monotonic() + seconds
    while (found := find()) is None:
        if time.monotonic() > end:
            raise AssertionError(f"nothing found within {seconds} seconds")
        time.sleep(1)
    return found


class Live(unittest.TestCase):
    memory: ClassVar[Client]

    @classmethod
    def setUpClass(cls) -> None:
        cls.memory = Client.from_env(actor="시험 test")

    def refused(self, status: int, call: Callable[[], Any]) -> Problem:
        with self.assertRaises(Problem) as caught:
            call()
        problem = caught.exception
        self.assertEqual(problem.status, status, problem)
        self.assertTrue(problem.detail and problem.next and problem.request_id, vars(problem))
        return problem

    def add_fact(self, **params: Any) -> str:
        added = self.memory.add_fact(f"I prefer to call it {word()}.", category="preference", **params)
        fact = str(added["fact_id"])

        def remove() -> None:
            with contextlib.suppress(Problem):  # The test has deleted it.
                self.memory.delete_fact(fact)

        self.addCleanup(remove)
        return fact

    def remember(self, session: str) -> axiommind.Hit:
        """Remembers a sentence in the session, and waits until a search finds the entry."""
        queued = self.memory.remember(session, [{"role": "user", "content": f"{SENTENCE} {word()}"}], now=True)
        self.assertEqual(queued["sessions"][0]["session_id"], session)

        def processed() -> dict[str, Any] | None:
            try:
                found = self.memory.request("GET", "/v1/sessions/{session}", {"session": session})
            except Problem as problem:
                if problem.status != 404:
                    raise
                return None
            return None if found.get("pending") else found

        def hit() -> axiommind.Hit | None:
            return next(iter(self.memory.search("events in ClickHouse", session=session, kind=["entry", "task"])), None)

        self.assertEqual(wait_for(processed)["session_id"], session)
        return wait_for(hit)

    def test_remembers_and_finds(self) -> None:
        session = "test-" + word()
        hit = self.remember(session)
        self.assertEqual((hit["kind"], hit["session_id"]), ("entry", session))
        entry = self.memory.entry(hit["entry_id"])
        self.assertIn(SENTENCE, entry["evidence"][0]["quote"])
        self.assertTrue(entry["evidence_proven"])
        self.assertTrue(entry["proofs"])

    def test_session_of_hard_characters(self) -> None:
        session = f"{word()} {HARD}"
        self.assertEqual(self.remember(session)["session_id"], session)

    def test_ids_that_are_steps_of_a_path(self) -> None:
        for session in (".", "..", "a/../b"):
            problem = self.refused(404, partial(self.memory.request, "GET", "/v1/sessions/{s}", {"s": session}))
            self.assertIn(f'"{session}"', problem.detail)

    def test_adds_lists_updates_and_deletes_a_fact(self) -> None:
        fact = self.add_fact(confidence=0.7)
        listed = {each["id"]: each for each in self.memory.facts(limit=1000)}
        self.assertEqual((listed[fact]["category"], listed[fact]["confidence"]), ("preference", 0.7))
        for content in (f"I prefer {word()}.", f"I prefer {word()} now."):
            self.assertEqual(self.memory.update_fact(fact, content=content, reason="a test")["updated"], 1)
        self.assertEqual(self.memory.request("GET", "/v1/facts/{fact}", {"fact": fact})["content"], content)

        changes = list(self.memory.pages("/v1/facts/{fact}/changes", fact=fact))
        self.assertEqual(len(changes), 3)
        self.assertEqual(list(self.memory.pages("/v1/facts/{fact}/changes", fact=fact, limit=1)), changes)
        self.assertEqual({change["actor"] for change in changes}, {"api:시험 test"})

        self.memory.delete_fact(fact)
        self.assertNotIn(fact, [each["id"] for each in self.memory.facts(limit=1000)])

    def test_same_key_is_done_once(self) -> None:
        content, key = f"I prefer to say {word()}.", "키 " + word()
        answers = [self.memory.add_fact(content, idempotency_key=key) for _ in range(2)]
        self.addCleanup(self.memory.delete_fact, answers[0]["fact_id"])
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(len(list(self.memory.pages("/v1/facts/{fact}/changes", fact=answers[0]["fact_id"]))), 1)
        self.refused(409, lambda: self.memory.add_fact(content))

    def test_unknown_ids(self) -> None:
        m = self.memory
        for call in (
            lambda: m.entry(UNKNOWN),
            lambda: m.correct(UNKNOWN, "The sky is blue."),
            lambda: m.confirm(UNKNOWN),
            lambda: m.retire(UNKNOWN, "a test"),
            lambda: m.restore(UNKNOWN, because="a test"),
            lambda: m.task(UNKNOWN),
            lambda: m.set_task(UNKNOWN, priority="low"),
            lambda: m.confirm_task(UNKNOWN),
            lambda: m.update_fact(UNKNOWN, content="a test"),
            lambda: m.delete_fact(UNKNOWN),
            lambda: m.build(UNKNOWN),
            lambda: m.resolve(UNKNOWN, "both"),
            lambda: m.accept(UNKNOWN),
            lambda: m.reject(UNKNOWN, because="a test"),
            lambda: m.record("a test", [UNKNOWN]),
        ):
            self.refused(404, call)

    def test_wrong_token(self) -> None:
        url = os.environ.get("AXIOMMIND_URL") or axiommind.URL
        self.refused(401, lambda: Client(url, "wrong").profile())

    def test_unknown_parameters_and_values(self) -> None:
        m = self.memory
        for call in (
            lambda: m.search("events", nonsense=1),
            lambda: list(m.tasks(nonsense=1)),
            lambda: m.add_fact("a test", nonsense=1),
            lambda: m.delete_fact(UNKNOWN, nonsense=1),
            lambda: m.forget(session="a", nonsense=1),
            lambda: m.forget_preview(session="a", nonsense=1),
            lambda: m.remember("a", []),
            lambda: m.dream(date="nonsense"),
            lambda: m.set_profile("nonsense", "a test"),
            lambda: m.search("events", from_="nonsense"),
        ):
            self.refused(400, call)

    def test_reads(self) -> None:
        m = self.memory
        for pages in (m.tasks, m.facts, m.versions, m.dreams, m.builds, m.conflicts, m.proposals, m.decisions):
            for item in pages(limit=2):
                self.assertIsInstance(item, dict)
                break
        self.assertIn("text", m.context("events", max_tokens=200))
        self.assertIn("sections", m.profile())
        try:
            self.assertIn("text", m.core_memory())
        except Problem as problem:  # An empty memory has none.
            self.assertEqual(problem.status, 404)
        self.assertIn("clickhouse", [check["name"] for check in m.health()])


class Stub(BaseHTTPRequestHandler):
    """Answers with the given statuses, one after the other, and notes the requests. 0 breaks the connection."""

    statuses: ClassVar[list[int]] = []
    seen: ClassVar[list[tuple[str, str | None]]] = []
    media: ClassVar[str] = "application/problem+json"

    def do_POST(self) -> None:  # noqa: N802
        size = int(self.headers.get("Content-Length", 0))
        self.seen.append((self.rfile.read(size).decode(), self.headers["Idempotency-Key"]))
        status = self.statuses.pop(0)
        if not status:
            self.close_connection = True
            return
        body = json.dumps({"items": [], "detail": "away"}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if status < 300 else self.media)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass


class Retries(unittest.TestCase):
    """The real server does not fail on demand, so a stub does."""

    def setUp(self) -> None:
        server = HTTPServer(("127.0.0.1", 0), Stub)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.memory = Client(f"http://127.0.0.1:{server.server_port}/below/")
        Stub.seen, Stub.media = [], "application/problem+json"

    def test_write_keeps_its_key(self) -> None:
        Stub.statuses = [503, 0, 200]
        self.memory.add_fact("a")
        self.assertEqual(len(Stub.seen), 3)
        self.assertEqual(len(set(Stub.seen)), 1)
        Stub.statuses = [200]
        self.memory.add_fact("a")
        self.assertNotEqual(Stub.seen[0], Stub.seen[3])

    def test_gives_up(self) -> None:
        Stub.statuses = [502, 503, 504]
        with self.assertRaises(Problem) as caught:
            self.memory.profile()
        self.assertEqual((caught.exception.status, caught.exception.detail), (504, "away"))
        Stub.statuses = [0, 0, 0]
        with self.assertRaises(ConnectionError):
            self.memory.profile()

    def test_does_not_repeat_what_is_answered(self) -> None:
        Stub.statuses = [500]
        self.assertRaises(Problem, self.memory.profile)
        Stub.statuses, Stub.media = [503, 503], "application/json"
        self.assertEqual(self.memory.health(), [])
        self.assertRaises(Problem, self.memory.profile)
        self.assertEqual(len(Stub.seen), 3)


class Environment(unittest.TestCase):
    def test_token_of_a_file(self) -> None:
        with tempfile.TemporaryDirectory() as state, mock.patch.object(sys, "platform", "linux"):
            file = Path(state, "axiommind", "serve.token")
            file.parent.mkdir()
            file.write_text("secret\n")
            for env in ({"XDG_STATE_HOME": state}, {"AXIOMMIND_TOKEN_FILE": str(file)}, {"AXIOMMIND_TOKEN": "secret"}):
                with mock.patch.dict(os.environ, env, clear=True):
                    self.assertEqual(Client.from_env()._headers["Authorization"], "Bearer secret")

    def test_refuses_an_address_that_is_none(self) -> None:
        for url in ("127.0.0.1:7390", "ftp://a", ""):
            self.assertRaises(ValueError, Client, url)


if __name__ == "__main__":
    unittest.main()
