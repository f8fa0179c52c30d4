package eventlog_test

import (
	"context"
	"fmt"
	"time"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// An act that is appended again, as by a retry, appends nothing. The example needs a ClickHouse server, such as
// go run ./deploy/local up starts.
func Example() {
	ctx := context.Background()
	conn, err := clickhouse.Connect(ctx, "http://127.0.0.1:8123/default", clickhouse.ConnectOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = conn.Close() }()
	if _, err := clickhouse.Migrate(ctx, conn); err != nil {
		fmt.Println(err)
		return
	}
	log := eventlog.New(conn, eventlog.Options{})
	stream := schema.MemoryStream("minji", "")
	event, err := schema.NewEvent(schema.FactDeletedPayload{FactID: "f1"},
		schema.Event{TS: time.Now(), Actor: "minji", DedupeKey: "delete f1", Sensitivity: schema.SensitivityNormal})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		appended, err := log.Append(ctx, stream, []schema.Event{event})
		fmt.Println(appended.New, err)
	}
	for e, err := range log.Stream(ctx, stream, eventlog.StreamOptions{}) {
		fmt.Println(e.Seq, e.Type, err)
	}
}
