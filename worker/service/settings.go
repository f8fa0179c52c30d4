package service

import (
	"slices"
	"strings"

	"axiommind/activities/llm"
	"axiommind/activities/task"
	"axiommind/activities/vector"
	"axiommind/schema"
	"axiommind/worker/settings"
)

// Settings lists all settings, those that every program has first. They store their values in c.
func (c *Config) Settings() []settings.Setting {
	list := slices.Concat([]settings.Setting{{Name: "config", Into: &c.File, Readers: settings.Hooks, Usage: "YAML file with any of these settings"}},
		c.Servers.Settings(), c.shared())
	for _, s := range slices.Concat(c.model(), c.memory(), c.facts(), c.run()) {
		s.Readers = settings.Worker
		list = append(list, s)
	}
	return list
}

func (c *Config) shared() []settings.Setting {
	return []settings.Setting{
		{Name: "raw-key-file", Into: &c.RawKeyFile, Absent: "none", Usage: "file of the keys for the originals that a worker with `--keep-raw` keeps", More: "; the starter reads it to show them"},
		{Name: "temporal-ui", Into: &c.TemporalUI, Absent: "none; `up` sets it", Usage: "URL of Temporal's web interface, to link to"},
		{Name: "embedder", Into: &c.Embedder.Provider, Default: llm.EmbedderProviders()[0], Absent: "`local` with a local stack that has it, else `hash`",
			Usage: "embedder: " + choices(llm.EmbedderChoices(), llm.EmbedderProviders()),
			More: ". `hash` goes by words, `local` by meaning, in a hundred languages or with the model of `--embedder-dir`. A worker with another one in its settings has everything indexed with it: " +
				"see [another embedder](operating.md#change-the-embedder)"},
		{Name: "embedder-model", Into: &c.Embedder.Model, Absent: "the provider's", Usage: "the embedder's model"},
		{Name: "embedder-url", Into: &c.Embedder.BaseURL, Absent: "the provider's", Usage: "base URL of an OpenAI-compatible embedder"},
		{Name: "embedder-dir", Into: &c.Embedder.Dir, Absent: "where the local stack puts it",
			Usage: "directory of the local embedder's library, or of a model of one's own: `model.onnx` and `tokenizer.json`"},
		{Name: "embedder-dimensions", Into: &c.Embedder.Dimensions, Absent: "the model's", Usage: "dimensions of the vectors"},
		{Name: "log-level", Into: &c.LogLevel, Default: "info", Absent: "`info` (starter: `error`)", Usage: "`debug`, `info`, `warn` or `error`"},
	}
}

// choices marks the names of providers as code.
func choices(text string, names []string) string {
	for _, name := range names {
		text = strings.Replace(text, name, "`"+name+"`", 1)
	}
	return text
}

func (c *Config) model() []settings.Setting {
	return []settings.Setting{
		{Name: "model-provider", Into: &c.Model.Provider, Default: llm.ModelProviders()[0], Usage: "extractor: " + choices(llm.ModelChoices(), llm.ModelProviders()),
			More: ". `rules` has `--model worth-v4` and `rules-v6`; the key of `gemini` is in `GEMINI_API_KEY`, that of `openai` in `OPENAI_API_KEY`, not needed with `--model-url`"},
		{Name: "model", Into: &c.Model.Model, Absent: "the provider's", Usage: "the extractor's model"},
		{Name: "model-url", Into: &c.Model.BaseURL, Absent: "the provider's", Usage: "base URL of any OpenAI-compatible server: Ollama, vLLM, …"},
		{Name: "model-format", Into: &c.Model.ResponseFormat, Absent: "the provider's",
			Usage: "how an OpenAI-compatible server is asked for JSON: `json_schema`, `json_object` or `none`"},
		{Name: "model-patience", Into: &c.Model.Patience, Default: llm.DefaultPatience, Usage: "how long a model may send nothing before it is asked again",
			More: "; servers that are not OpenAI's stream their answers, so a slow one may take longer as a whole"},
		{Name: "model-input-price", Into: &c.Model.Prices.InputPerMillion, Default: 0.0, Usage: "US dollars per million input tokens, to count costs"},
		{Name: "model-output-price", Into: &c.Model.Prices.OutputPerMillion, Default: 0.0, Usage: "US dollars per million output tokens, to count costs"},
		{Name: "window-bytes", Into: &c.WindowBytes, Default: llm.DefaultWindowBytes,
			Usage: "bytes of text that one model call reads; a dream reads more if a day or the memory has more than 256 times as much, and the model's input must take that"},
		{Name: "max-output-tokens", Into: &c.MaxOutputTokens, Absent: "the model's, and 8192 for servers other than OpenAI's", Usage: "most tokens of one answer"},
		{Name: "model-reads", Into: oneOf(&c.ModelReads, ReadPassages, ReadAll), Default: ReadPassages, Usage: "how much of a session the model reads: `" + ReadPassages + "` that are worth it, or `" + ReadAll + "`",
			More: ". With `all` it reads whole sessions, not only the passages that the offline weights find worth reading: on the 14 gold sessions of agentwork these are 48 % of the text, with 97 % of the most important items"},
		{Name: "model-concurrency", Into: &c.ModelConcurrency, Default: DefaultModelConcurrency, Usage: "model calls at a time, per worker"},
		{Name: "model-rate", Into: number(&c.ModelRate, 0, MaxModelRate), Default: "0", Absent: "0, no limit", Usage: "most model calls a second, of all workers together (0: no limit)",
			More: "; also below 1, such as 0.2"},
	}
}

func (c *Config) memory() []settings.Setting {
	return []settings.Setting{
		{Name: "source-root", Into: &c.SourceRoots, Absent: "where agents keep their sessions in the home, and the current directory",
			Usage: "directory or file that inputs of workflows may name; repeat for more",
			More:  ", in the variable separated as in `PATH`, in the file as a list. Given, it replaces the default. A current directory that is the home or holds it is left out"},
		{Name: "keep-raw", Into: &c.KeepRaw, Absent: "off, it is gone", Usage: "keep the originals of redacted messages, [encrypted](privacy.md#keep-the-originals) with the first key of `--raw-key-file`",
			More: "; the worker does not start without that file then"},
		{Name: "done-reports", Into: oneOf(&c.DoneReports, task.KeepReports, task.CloseProven), Default: string(task.KeepReports),
			Usage: "a first report of done that rests on proof: `keep` it for a person to confirm, or `close` the task"},
		{Name: "idris", Into: &c.Idris, Absent: "`idris2` on the `PATH`, if it is there", Usage: "path of the Idris 2 compiler, which checks entries besides the Go verifier"},
		{Name: "idris-only", Into: &c.IdrisOnly, Usage: "let no entry become verified without the Idris 2 compiler"},
		{Name: "memory-root", Into: &c.MemoryRoot, Absent: "`" + DefaultMemoryRoot + "`", Usage: "directory or URL (`file`, `s3`, `gs`) of [the files](tiers-and-dreams.md#the-files) of the memory"},
		{Name: "unsigned-erasures", Into: &c.UnsignedErasures,
			Usage: "serve erasures that `starter forget` did not sign with this worker's key: anyone who reaches Temporal may then erase"},
		{Name: "eraser-dsn", Into: &c.EraserDSN, Absent: "none, and another worker has to serve it",
			Usage: "ClickHouse's address with a user who [may erase](operating.md#clickhouse-roles): this worker then serves `starter forget`"},
		{Name: "time-zone", Into: &c.TimeZone, Absent: "the machine's", Usage: "time zone of the days of daily records, such as `Europe/Berlin`"},
		{Name: "summary-webhook", Into: &c.SummaryWebhook.URL, Secret: true,
			Usage: "URL that gets [each summary](tiers-and-dreams.md#summaries-for-other-programs) of a daily record, by POST", More: "; its secret is `AXIOMMIND_SUMMARY_SECRET`"},
	}
}

func (c *Config) run() []settings.Setting {
	return []settings.Setting{
		{Name: "task-queue", Into: &c.TaskQueues, Absent: "all",
			Usage: "task queue that this worker serves: `" + strings.Join(schema.TaskQueues(), "`, `") + "`; repeat for more",
			More:  ", in the variable separated as in `PATH`, in the file as a list. Each one needs [a worker](operating.md#run-workers)"},
		{Name: "weaviate-idle", Into: idleTime(&c.WeaviateIdle), Absent: "never", Usage: "how long a project may be without an event before its tenants in Weaviate leave the memory, such as `720h`",
			More: "; the next search or write loads them again"},
		{Name: "weaviate-idle-state", Into: oneOf(&c.WeaviateIdleState, vector.IdleInactive, vector.IdleOffloaded), Default: string(vector.IdleInactive),
			Usage: "where they are then: `inactive`, on the server's disk, or `offloaded`, in its bucket; without `--weaviate-idle` they stay in the memory", More: ". `offloaded` needs Weaviate's module `offload-s3`"},
		{Name: "queue-rate", Into: &c.QueueRates, Absent: "no limit", Usage: "most activities a second of a task queue, of all workers together, as `axiommind-vector=20`; repeat for more",
			More: ". That of `axiommind-model` is `--model-rate`"},
		{Name: "worker-rate", Into: &c.WorkerRates, Absent: "no limit", Usage: "most activities a second of a task queue on this worker alone, as `axiommind-vector=20`; repeat for more"},
		{Name: "max-pollers", Into: count(&c.MaxPollers, 0), Default: "0", Absent: "0, two that stay", Usage: "most pollers of each task queue: their number then follows the backlog (0: two, always)"},
		{Name: "stop-timeout", Into: &c.StopTimeout, Default: DefaultStopTimeout, Usage: "how long running activities may take to end on a stop"},
		{Name: "metrics-address", Into: &c.MetricsAddress, Absent: "none", Usage: "host:port that serves [metrics](operating.md#metrics-and-traces) at `/metrics`, for Prometheus",
			More: ". Anyone who reaches it sees the names of projects: the worker warns if it is not loopback"},
		{Name: "build-id", Into: c.setBuildID, Absent: "none, work comes at once", Usage: "version of this worker's code: work then comes once that version is the current one",
			More: ", see [Deploy](operating.md#deploy-a-new-version)"},
		{Name: "deployment", Into: c.setDeployment, Default: DefaultDeployment, Usage: "name that all versions of the worker share, with `--build-id`"},
		{Name: "memory-mib", Into: &c.MemoryMiB, Default: DefaultMemoryMiB, Usage: "MiB of memory from which on garbage is collected more often (0: never)",
			More: "; memory in use stays, and a lower `GOMEMLIMIT` wins"},
	}
}
