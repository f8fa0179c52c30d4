// Tests of axiommind.ts against the server of AXIOMMIND_URL and AXIOMMIND_TOKEN. They leave two short sessions there.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { after, test, type TestContext } from "node:test";
import { Client, DEFAULT_URL, Problem, type Answer, type Hit } from "./axiommind.ts";

const SENTENCE = "We decided to keep the events in ClickHouse.";
const HARD = `a b/c//d?e=f&g#h;i+j 100% %2F %25 "double" 'single' back\\slash <x> 한글 日本語 🎉 ../.`;
const UNKNOWN = "no-such-id";

const memory = Client.fromEnv({ actor: "시험 test" });

function word(): string {
  return "w" + crypto.randomUUID().replaceAll("-", "").slice(0, 12);
}

async function waitFor<T>(find: () => Promise<T | undefined>, seconds = 60): Promise<T> {
  for (const end = Date.now() + seconds * 1000; ; await new Promise((resolve) => setTimeout(resolve, 1000))) {
    const found = await find();
    if (found !== undefined) return found;
    assert.ok(Date.now() < end, `nothing found within ${seconds} seconds`);
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Expects a problem of the status, with a step to take. */
async function refused(status: number, call: Promise<unknown>): Promise<Problem> {
  const problem = await call.then(
    () => assert.fail(`want a problem of status ${status}`),
    (error: unknown) => error,
  );
  assert.ok(problem instanceof Problem, String(problem));
  assert.equal(problem.status, status, problem.message);
  assert.ok(problem.detail && problem.next && problem.requestId, JSON.stringify(problem));
  return problem;
}

/** Remembers a sentence in the session, and waits until a search finds the entry. */
async function remember(session: string): Promise<Hit> {
  const queued = await memory.remember(session, [{ role: "user", content: `${SENTENCE} ${word()}` }], { now: true });
  assert.equal(queued["sessions"][0].session_id, session);
  const found = await waitFor<Answer>(async () => {
    try {
      const answer = await memory.request("GET", "/v1/sessions/{session}", { session });
      return answer["pending"] ? undefined : answer;
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return undefined;
      throw error;
    }
  });
  assert.equal(found["session_id"], session);
  return waitFor(async () => (await memory.search("events in ClickHouse", { session, kind: ["entry", "task"] }))[0]);
}

/** Adds a fact that is deleted at the end of the test. */
async function addFact(t: TestContext, content: string, params = {}): Promise<string> {
  const { fact_id: fact } = await memory.addFact(content, { category: "preference", ...params });
  t.after(() => memory.deleteFact(fact).catch((error: unknown) => assert.ok(error instanceof Problem)));
  return fact;
}

test("remembers and finds", async () => {
  const session = "test-" + word();
  const hit = await remember(session);
  assert.deepEqual([hit.kind, hit.session_id], ["entry", session]);
  const entry = await memory.entry(hit.entry_id);
  assert.ok(entry.evidence[0]?.quote.includes(SENTENCE), JSON.stringify(entry.evidence));
  assert.ok(entry.evidence_proven && entry.proofs?.length);
});

test("session of hard characters", async () => {
  const session = `${word()} ${HARD}`;
  assert.equal((await remember(session)).session_id, session);
});

test("ids that are steps of a path", async () => {
  for (const id of [".", "..", "", undefined]) await assert.rejects(memory.entry(id as string), TypeError);
  const problem = await refused(404, memory.request("GET", "/v1/sessions/{id}", { id: "a/../b" }));
  assert.ok(problem.detail.includes('"a/../b"'));
});

test("adds, lists, updates and deletes a fact", async (t) => {
  const fact = await addFact(t, `I prefer to call it ${word()}.`, { confidence: 0.7 });
  const listed = (await all(memory.facts({ limit: 1000 }))).find((each) => each.id === fact);
  assert.deepEqual([listed?.category, listed?.confidence], ["preference", 0.7]);
  let content = "";
  for (const end of ["", " now"]) {
    content = `I prefer ${word()}${end}.`;
    assert.equal((await memory.updateFact(fact, { content, reason: "a test" }))["updated"], 1);
  }
  assert.equal((await memory.request("GET", "/v1/facts/{fact}", { fact }))["content"], content);

  const changes = await all(memory.pages("/v1/facts/{fact}/changes", { fact }));
  assert.equal(changes.length, 3);
  assert.deepEqual(await all(memory.pages("/v1/facts/{fact}/changes", { fact, limit: 1 })), changes);
  assert.deepEqual([...new Set(changes.map((change) => change["actor"]))], ["api:시험 test"]);

  await memory.deleteFact(fact);
  assert.ok(!(await all(memory.facts({ limit: 1000 }))).some((each) => each.id === fact));
});

test("same key is done once", async (t) => {
  const content = `I prefer to say ${word()}.`;
  const idempotency_key = "키 " + word();
  const fact = await addFact(t, content, { idempotency_key });
  const again = await memory.addFact(content, { category: "preference", idempotency_key });
  assert.equal(again["fact_id"], fact);
  assert.equal((await all(memory.pages("/v1/facts/{fact}/changes", { fact }))).length, 1);
  await refused(409, memory.addFact(content));
});

test("unknown ids", async () => {
  for (const call of [
    () => memory.entry(UNKNOWN),
    () => memory.correct(UNKNOWN, "The sky is blue."),
    () => memory.confirm(UNKNOWN),
    () => memory.retire(UNKNOWN, "a test"),
    () => memory.restore(UNKNOWN, { because: "a test" }),
    () => memory.task(UNKNOWN),
    () => memory.setTask(UNKNOWN, { priority: "low" }),
    () => memory.confirmTask(UNKNOWN),
    () => memory.updateFact(UNKNOWN, { content: "a test" }),
    () => memory.deleteFact(UNKNOWN),
    () => memory.build(UNKNOWN),
    () => memory.resolve(UNKNOWN, "both"),
    () => memory.accept(UNKNOWN),
    () => memory.reject(UNKNOWN, { because: "a test" }),
    () => memory.record("a test", [UNKNOWN]),
  ]) {
    await refused(404, call());
  }
});

test("wrong token", async () => {
  const url = process.env["AXIOMMIND_URL"] || DEFAULT_URL;
  await refused(401, new Client({ url, token: "wrong" }).profile());
});

test("unknown parameters and values", async () => {
  for (const call of [
    () => memory.search("events", { nonsense: 1 }),
    () => all(memory.tasks({ nonsense: 1 })),
    () => memory.addFact("a test", { nonsense: 1 }),
    () => memory.deleteFact(UNKNOWN, { nonsense: 1 }),
    () => memory.forget({ session: "a", nonsense: 1 }),
    () => memory.forgetPreview({ session: "a", nonsense: 1 }),
    () => memory.remember("a", []),
    () => memory.dream({ date: "nonsense" }),
    () => memory.setProfile("nonsense", "a test"),
    () => memory.search("events", { from: "nonsense" }),
  ]) {
    await refused(400, call());
  }
});

test("reads", async () => {
  for (const name of ["tasks", "facts", "versions", "dreams", "builds", "conflicts", "proposals", "decisions"] as const) {
    for await (const item of memory[name]({ limit: 2 })) {
      assert.equal(typeof item, "object");
      break;
    }
  }
  assert.equal(typeof (await memory.context("events", { max_tokens: 200 }))["text"], "string");
  assert.ok((await memory.profile())["sections"]);
  try {
    assert.equal(typeof (await memory.coreMemory())["text"], "string");
  } catch (error) {
    assert.ok(error instanceof Problem && error.status === 404); // An empty memory has none.
  }
  assert.ok((await memory.health()).some((check) => check["name"] === "clickhouse"));
});

// The real server does not fail on demand, so a stub does: it answers with the statuses, and 0 breaks the connection.
const stub = { statuses: [] as number[], media: "", seen: [] as string[] };
const server = createServer(async (request, response) => {
  const body = (await request.setEncoding("utf8").toArray()).join("");
  stub.seen.push(`${request.headers["idempotency-key"]} ${body}`);
  const status = stub.statuses.shift();
  if (!status) return request.socket.destroy();
  response.writeHead(status, { "Content-Type": status < 300 ? "application/json" : stub.media, "Retry-After": "0" });
  response.end(JSON.stringify({ items: [], detail: "away" }));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => server.close());
const stubbed = new Client({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/below/`, timeout: 10_000 });

function answers(statuses: number[], media = "application/problem+json"): string[] {
  return Object.assign(stub, { statuses, media, seen: [] }).seen;
}

test("a write that is tried again keeps its key", async () => {
  const seen = answers([503, 0, 200, 200]);
  await stubbed.addFact("a");
  assert.deepEqual([seen.length, new Set(seen).size], [3, 1]);
  await stubbed.addFact("a");
  assert.notEqual(seen[3], seen[0]);
});

test("gives up", async () => {
  answers([502, 503, 504, 0, 0, 0]);
  await assert.rejects(stubbed.profile(), { name: "Problem", status: 504, detail: "away" });
  await assert.rejects(stubbed.profile(), { name: "Error", message: /the connection failed/ });
});

test("does not repeat a request that was answered", async () => {
  answers([500]);
  await assert.rejects(stubbed.profile(), Problem);
  const seen = answers([503, 503], "application/json");
  assert.deepEqual(await stubbed.health(), []);
  await assert.rejects(stubbed.profile(), Problem);
  assert.equal(seen.length, 2);
});

test("reads the environment", (t) => {
  const directory = mkdtempSync(`${tmpdir()}/axiommind-ts-`);
  const saved = { ...process.env };
  t.after(() => {
    process.env = saved;
    rmSync(directory, { recursive: true });
  });
  writeFileSync(`${directory}/token`, "secret\n");
  for (const env of [{ AXIOMMIND_TOKEN_FILE: `${directory}/token` }, { AXIOMMIND_TOKEN: "secret" }]) {
    process.env = env;
    assert.ok(Client.fromEnv() instanceof Client);
  }
  process.env = { XDG_STATE_HOME: directory };
  assert.throws(() => Client.fromEnv(), /serve\.token/);
  for (const url of ["127.0.0.1:7390", "localhost:7390", ""]) assert.throws(() => new Client({ url }), TypeError);
});
