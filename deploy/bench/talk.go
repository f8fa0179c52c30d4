package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"axiommind/schema"
)

// talk is a conversation.
type talk struct {
	messages []schema.InlineMessage
	// question is one that the conversation answers, or "".
	question string
}

// talks makes conversations.
type talks struct {
	files []string
	seed  uint64
}

func newTalks(from string, seed uint64) (*talks, error) {
	t := &talks{seed: seed}
	if from == "" {
		return t, nil
	}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".jsonl" {
			t.files = append(t.files, path)
		}
		return err
	})
	if err == nil && len(t.files) == 0 {
		err = errors.New("there is no file with the ending .jsonl")
	}
	if err != nil {
		return nil, fmt.Errorf("--from %q: %w", from, err)
	}
	return t, nil
}

// file writes the n-th conversation as a transcript of Claude Code and returns the question it answers.
func (t *talks) file(path, session string, n int) (question string, err error) {
	if len(t.files) > 0 {
		text, err := os.ReadFile(t.files[n%len(t.files)])
		if err != nil {
			return "", err
		}
		return "", os.WriteFile(path, text, 0o600)
	}
	c := t.made(n)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for i, m := range c.messages {
		line := map[string]any{
			"type": m.Role, "uuid": fmt.Sprintf("%s-%d", session, i), "sessionId": session, "timestamp": m.At.Format(time.RFC3339Nano),
			"message": map[string]string{"role": m.Role, "content": m.Content},
		}
		if err := enc.Encode(line); err != nil {
			return "", err
		}
	}
	return c.question, os.WriteFile(path, out.Bytes(), 0o600)
}

// The parts of made-up conversations. Services are numbered, so that each question has one answer.
var (
	things  = []string{"cache", "queue", "session store", "search index", "audit log", "rate limiter", "job runner", "feature flags", "image store", "mail sender"}
	tools   = []string{"Redis", "Postgres", "SQLite", "Kafka", "NATS", "RabbitMQ", "Badger", "Caddy", "Envoy", "HAProxy", "Nomad", "MinIO"}
	reasons = []string{
		"it needs no second server", "the team has run it for years", "its failures are easy to see", "it restarts in a second",
		"backups of it are tested every week", "its licence lets us ship it",
	}
	likes   = []string{"short commit messages", "tests before fixes", "tables over prose", "plain SQL", "small pull requests", "answers with their source"}
	fillers = []string{
		"I looked at the handler and at the two callers of it; both read the settings once and pass them on by value.",
		"The log shows three retries in the last hour, all of them within a second after the deploy.",
		"There is a test for the happy path, none for a connection that breaks in the middle of an answer.",
		"The benchmark says that half of the time goes to parsing, and the rest is spread over forty small functions.",
		"The two tables are joined by the customer, and the index on the second one begins with another column.",
	}
)

// made returns the n-th made-up conversation: 10 messages, some 4 KB, with a decision, preferences, tasks and talk.
func (t *talks) made(n int) talk {
	r := rand.New(rand.NewPCG(t.seed, uint64(n))) //nolint:gosec // a run is to be repeatable
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	service, thing, tool := fmt.Sprintf("service %d", n), pick(things), pick(tools)
	talks := func() string { return pick(fillers) + " " + pick(fillers) + " " + pick(fillers) + " " + pick(fillers) }
	said := []string{
		fmt.Sprintf("The %s of %s is too slow since the last release. %s", thing, service, talks()),
		fmt.Sprintf("Let me look at it. %s", talks()),
		fmt.Sprintf("We decided to use %s for the %s of %s, because %s.", tool, thing, service, pick(reasons)),
		fmt.Sprintf("Good. I will move the %s first, and the callers after it. %s", thing, talks()),
		fmt.Sprintf("I prefer %s, also for %s. %s", pick(likes), service, talks()),
		fmt.Sprintf("TODO: write a migration for the %s of %s.\n%s", thing, service, talks()),
		fmt.Sprintf("How long does the migration take? %s", talks()),
		fmt.Sprintf("About %d minutes for %d rows; it is blocked by the missing staging copy. %s", 2+r.IntN(40), 1000*(1+r.IntN(900)), talks()),
		fmt.Sprintf("Then do it on a Sunday. %s", talks()),
		fmt.Sprintf("Done: the old %s of %s is switched off. %s", thing, service, talks()),
	}
	begin := time.Now().UTC().Add(-time.Hour)
	c := talk{question: fmt.Sprintf("what do we use for the %s of %s?", thing, service)}
	for i, text := range said {
		c.messages = append(c.messages, schema.InlineMessage{
			Role: []string{"user", "assistant"}[i%2], Content: text, At: begin.Add(time.Duration(i) * time.Minute),
		})
	}
	return c
}
