// Client for the HTTP API of AxiomMind: long-term memory with proof for AI agents.
//
// Copy this file. It needs Node 20, Deno 2 or Bun, and no packages. Parameters and answers are named as in the server's
// /openapi.json.

import { readFileSync } from "node:fs";
import { homedir } from "node:os";

export type Answer = Record<string, any>;
export type Params = Record<string, unknown>;
export type Options = { url?: string; token?: string; timeout?: number; actor?: string };

export type Message = {
  role: "user" | "assistant" | "system" | "tool";
  content: string;
  id?: string; // your own id: a session contains one message with it
  at?: string; // when it was written, in RFC 3339 (default: now)
};

export type Evidence = {
  message_index: number;
  quote: string;
  aligned: boolean; // the quote is in the message
  proven: boolean; // whole sentences of the message state it
  span: { byte_start: number; byte_end: number; rune_start: number; rune_end: number };
};

/** A memory: one statement, with the quotes that prove it. */
export type Entry = {
  entry_id: string;
  entry_type: string;
  title: string;
  session_id: string;
  stage: string;
  status: string;
  evidence: Evidence[];
  evidence_proven: boolean;
  occurred_at: string;
  proofs?: Answer[]; // entry() checks the evidence against the source
};

/** A search result. Only one of the kind entry has an entry_id and evidence. */
export type Hit = Entry & {
  kind: "entry" | "task" | "message" | "fact";
  score: number;
  weak: boolean; // it may have nothing to do with the query
  content?: string; // a message's text
  message?: { event_id: string; index: number; role: string }; // entry() takes `${event_id}/${index}`
  tracked?: { id: string; status: string; priority?: string }; // a task
  fact?: { id: string; category: string; confidence: number };
};

export type Task = { entity_id: string; title: string; task_status: string; priority: string };
export type TaskView = { task: Task; blockers: Answer[] };
export type Fact = { id: string; content: string; category: string; confidence: number; status: string; version: number };

/** A refused or failed request. `next` is the step to take; `requestId` finds it in the server's log. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly detail: string;
  readonly next: string;
  readonly requestId: string;
  readonly answer: Answer;

  constructor(status: number, answer: Answer, requestId: string) {
    const { detail = JSON.stringify(answer), next = "" } = answer;
    super(`${status}: ${detail}${next && ` (next: ${next})`}`);
    this.status = status;
    this.detail = detail;
    this.next = next;
    this.requestId = requestId;
    this.answer = answer;
  }
}

export const DEFAULT_URL = "http://127.0.0.1:7390";
const TIMEOUT = 300_000; // milliseconds; a dream or an erasure takes long
const RETRIES = 2;
const LONGEST_WAIT = 10_000; // milliseconds between two attempts, whatever Retry-After says

/**
 * A client of one server. Its methods throw a Problem, or an Error if the server cannot be reached.
 *
 * A request is tried again if the connection breaks or the server is away for a moment. Each write has an idempotency
 * key, so it is done once. Pass your own `idempotency_key` to a write that you may repeat.
 */
export class Client {
  readonly #url: string;
  readonly #timeout: number;
  readonly #headers: Record<string, string>;

  constructor({ url = DEFAULT_URL, token = "", timeout = TIMEOUT, actor = "" }: Options = {}) {
    if (!/^https?:\/\/./.test(url)) throw new TypeError(`url ${JSON.stringify(url)}: want one like ${DEFAULT_URL}`);
    this.#url = url.replace(/\/+$/, "");
    this.#timeout = timeout;
    this.#headers = { Authorization: `Bearer ${token}`, "Axiommind-Actor": bytes(actor) };
  }

  /** Reads AXIOMMIND_URL, and AXIOMMIND_TOKEN or AXIOMMIND_TOKEN_FILE; by default, the server on this machine. */
  static fromEnv(options: Pick<Options, "timeout" | "actor"> = {}): Client {
    const env = process.env;
    const token = env["AXIOMMIND_TOKEN"] || readFileSync(env["AXIOMMIND_TOKEN_FILE"] || tokenFile(), "utf8").trim();
    return new Client({ ...options, url: env["AXIOMMIND_URL"] || DEFAULT_URL, token });
  }

  /** Asks any endpoint. A name in braces in the path takes its parameter. */
  async request<T = Answer>(method: string, path: string, params: Params = {}): Promise<T> {
    const { idempotency_key: key, ...rest } = params;
    const headers = { ...this.#headers };
    if (method !== "GET") headers["Idempotency-Key"] = bytes(String(key || crypto.randomUUID()));
    let url = this.#url + path.replace(/{(\w+)}/g, (_, name: string) => segment(name, rest));
    let body: string | null = null;
    if (method === "GET" || method === "DELETE") {
      const pairs = Object.entries(rest).flatMap(([name, value]) => [value ?? []].flat().map((each) => [name, String(each)]));
      url += `?${new URLSearchParams(pairs as [string, string][])}`;
    } else {
      headers["Content-Type"] = "application/json";
      body = JSON.stringify(rest);
    }
    for (let attempt = 0; ; attempt++) {
      let wait = 500 * 2 ** attempt;
      try {
        const signal = AbortSignal.timeout(this.#timeout);
        const response = await fetch(url, { method, headers, body, signal, redirect: "manual" });
        const text = await response.text();
        const [media = ""] = (response.headers.get("Content-Type") ?? "").split(";");
        const answer = media.endsWith("json") ? JSON.parse(text) : { detail: text.slice(0, 500) };
        // A failure in plain JSON is the answer of a server that is there, such as the checks of health.
        const plain = media === "application/json";
        if (plain && (response.ok || path === "/v1/health")) return answer;
        if (![502, 503, 504].includes(response.status) || plain || attempt === RETRIES) {
          throw new Problem(response.status, answer, response.headers.get("X-Request-Id") ?? "");
        }
        const after = response.headers.get("Retry-After") ?? "";
        if (/^\d+$/.test(after)) wait = Math.min(Number(after) * 1000, LONGEST_WAIT);
      } catch (error) {
        if (["Problem", "SyntaxError", "TimeoutError"].includes((error as Error).name)) throw error;
        if (attempt === RETRIES) throw new Error(`${method} ${this.#url}: the connection failed`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  /** Yields all items of a list, or all hits of a search. `limit` is the size of a page. */
  async *pages<T = Answer>(path: string, params: Params = {}): AsyncGenerator<T, void, undefined> {
    let page: Answer = { next: params["cursor"] };
    do {
      page = await this.request("GET", path, { ...params, cursor: page["next"] });
      yield* (page["items"] ?? page["hits"] ?? []) as T[];
    } while (page["next"]);
  }

  /** Queues messages of a session. With `now: true`, they are memories in some seconds. */
  remember(session: string, messages: Message[], params: Params = {}) {
    return this.request("POST", "/v1/sessions", { session, messages, ...params });
  }
  /** Returns the best memories (limit: 5). Filters: kind, type, stage, session, from, to, as_of and more. */
  async search(query: string, params: Params = {}): Promise<Hit[]> {
    const { hits } = await this.request("GET", "/v1/search", { query, ...params });
    return (hits ?? []).map((hit: Hit) => ({ ...hit, evidence: hit.evidence ?? [] }));
  }
  /** Returns the memories for a prompt as `text`, within `max_tokens`. */
  context(query?: string, params: Params = {}) {
    return this.request("GET", "/v1/context", { query, ...params });
  }

  entry(entry: string, params: Params = {}) {
    return this.request<Entry>("GET", "/v1/entries/{entry}", { entry, ...params });
  }
  correct(entry: string, statement: string, params: Params = {}) {
    return this.request("POST", "/v1/entries/{entry}/correct", { entry, with: statement, ...params });
  }
  confirm(entry: string, params: Params = {}) {
    return this.request("POST", "/v1/entries/{entry}/confirm", { entry, ...params });
  }
  retire(entry: string, because: string, params: Params = {}) {
    return this.request("POST", "/v1/entries/{entry}/retire", { entry, because, ...params });
  }
  restore(entry: string, params: Params = {}) {
    return this.request("POST", "/v1/entries/{entry}/restore", { entry, ...params });
  }

  tasks(params: Params = {}) {
    return this.pages<TaskView>("/v1/tasks", params);
  }
  task(task: string, params: Params = {}) {
    return this.request<TaskView>("GET", "/v1/tasks/{task}", { task, ...params });
  }
  /** Changes status, priority or title, and adds or removes blockers: block: […], unblock: […]. */
  setTask(task: string, params: Params) {
    return this.request("PATCH", "/v1/tasks/{task}", { task, ...params });
  }
  /** Closes a task that is reported done. */
  confirmTask(task: string, params: Params = {}) {
    return this.request("POST", "/v1/tasks/{task}/confirm", { task, ...params });
  }

  facts(params: Params = {}) {
    return this.pages<Fact>("/v1/facts", params);
  }
  addFact(content: string, params: Params = {}) {
    return this.request("POST", "/v1/facts", { content, ...params });
  }
  updateFact(fact: string, params: Params) {
    return this.request("PATCH", "/v1/facts/{fact}", { fact, ...params });
  }
  deleteFact(fact: string, params: Params = {}) {
    return this.request("DELETE", "/v1/facts/{fact}", { fact, ...params });
  }

  profile(params: Params = {}) {
    return this.request("GET", "/v1/profile", params);
  }
  setProfile(section: string, text: string, params: Params = {}) {
    return this.request("PUT", "/v1/profile/{section}", { section, text, ...params });
  }
  /** Returns MEMORY.md as `text`, and its items with their sources. */
  coreMemory(params: Params = {}) {
    return this.request("GET", "/v1/memory", params);
  }
  versions(params: Params = {}) {
    return this.pages("/v1/memory/versions", params);
  }

  dreams(params: Params = {}) {
    return this.pages("/v1/dreams", params);
  }
  /** Consolidates the daily records into core memory, and waits. `dry_run: true` only shows the changes. */
  dream(params: Params = {}) {
    return this.request("POST", "/v1/dreams", params);
  }
  builds(params: Params = {}) {
    return this.pages("/v1/builds", params);
  }
  build(build: string) {
    return this.request("GET", "/v1/builds/{build}", { build });
  }
  retry(build: string, params: Params = {}) {
    return this.request("POST", "/v1/builds/{build}/retry", { build, ...params });
  }

  conflicts(params: Params = {}) {
    return this.pages("/v1/conflicts", params);
  }
  /** Keeps the entry that is right, or "both". */
  resolve(conflict: string, keep: string, params: Params = {}) {
    return this.request("POST", "/v1/conflicts/{conflict}/resolve", { conflict, keep, ...params });
  }
  proposals(params: Params = {}) {
    return this.pages("/v1/proposals", params);
  }
  accept(proposal: string, params: Params = {}) {
    return this.request("POST", "/v1/proposals/{proposal}/accept", { proposal, ...params });
  }
  reject(proposal: string, params: Params = {}) {
    return this.request("POST", "/v1/proposals/{proposal}/reject", { proposal, ...params });
  }
  decisions(params: Params = {}) {
    return this.pages("/v1/decisions", params);
  }
  /** Records a decision and the verified entries that it rests on. */
  record(decision: string, because_of: string[], params: Params = {}) {
    return this.request("POST", "/v1/decisions", { decision, because_of, ...params });
  }

  forgetPreview(target: Params) {
    return this.request("POST", "/v1/forget/preview", target);
  }
  /** Erases a session, user, project or query from every store, for good, and waits. */
  forget(target: Params) {
    return this.request("POST", "/v1/forget", target);
  }
  /** Returns the checks of all servers: name, ok, note and, for a failed one, mend. */
  async health(): Promise<Answer[]> {
    return (await this.request("GET", "/v1/health"))["items"];
  }
}

function tokenFile(): string {
  if (process.platform === "darwin") return `${homedir()}/Library/Application Support/axiommind/serve.token`;
  const state = process.env["XDG_STATE_HOME"] ?? "";
  return `${state.startsWith("/") ? state : `${homedir()}/.local/state`}/axiommind/serve.token`;
}

/** The server reads UTF-8 in headers, and fetch takes them byte by byte. */
function bytes(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

/** Takes a parameter out of the others, encoded as one segment of a path. */
function segment(name: string, params: Params): string {
  const id = String(params[name] ?? "");
  if (/^\.{0,2}$/.test(id)) throw new TypeError(`${name} ${JSON.stringify(id)}: fetch can send no such segment of a path`);
  delete params[name];
  return encodeURIComponent(id);
}
