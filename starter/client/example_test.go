package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"axiommind/starter/client"
)

// A program gives each turn of its agent to memory, and goes on.
func ExampleClient_Enqueue() {
	ctx := context.Background()
	cfg, err := client.LoadConfig() // As the command line: variables, a file, or a local stack that is up.
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := client.Open(ctx, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Close() }()

	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	turn := client.Conversation{
		User: "ann", Agent: "coder", Thread: "session-7",
		Messages: []client.Message{
			{Role: "user", Content: "We decided to use ClickHouse for the event log.", ID: "m41"},
			{Role: "assistant", Content: "Noted.", ID: "m42"},
		},
	}
	done, err := c.Enqueue(ctx, turn)
	if errors.Is(err, client.ErrUnavailable) {
		turn.ID = done.ID // It may have arrived: with its ID it counts once.
		_, err = c.Enqueue(ctx, turn)
	}
	if err != nil && !errors.Is(err, client.ErrDisabled) {
		fmt.Println(err)
	}
}

// Memories go into the agent's next prompt, ordered by the user's question.
func ExampleClient_Context() {
	ctx := context.Background()
	cfg, err := client.LoadConfig()
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := client.Open(ctx, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Close() }()
	known, err := c.Context(ctx, client.ContextRequest{User: "ann", Agent: "coder", Query: "which database?", MaxTokens: 800})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(known.Text)
}

// A client that memory is switched off for enqueues nothing, and says so.
func ExampleClient_Enqueue_disabled() {
	ctx := context.Background()
	c, err := client.Open(ctx, client.Config{Servers: client.Servers{NoQueue: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Close() }()
	_, err = c.Enqueue(ctx, client.Conversation{Thread: "session-7", Messages: []client.Message{{Role: "user", Content: "Hello."}}})
	fmt.Println(errors.Is(err, client.ErrDisabled), err)
	// Output: true memory is switched off (no-queue): nothing was enqueued
}
