//go:build never

package depsx

import (
	_ "github.com/ClickHouse/clickhouse-go/v2"
	_ "github.com/ClickHouse/clickhouse-go/v2/lib/proto"
	_ "github.com/ebitengine/purego"
	_ "github.com/google/generative-ai-go/genai"
	_ "github.com/google/uuid"
	_ "github.com/gowebpki/jcs"
	_ "github.com/jedib0t/go-pretty/v6/table"
	_ "github.com/kaptinlin/jsonrepair"
	_ "github.com/openai/openai-go/v3"
	_ "github.com/rivo/uniseg"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/spf13/pflag"
	_ "github.com/stretchr/testify/require"
	_ "github.com/weaviate/weaviate-go-client/v4/weaviate"
	_ "github.com/klauspost/compress/zstd"
	_ "go.temporal.io/sdk/client"
	_ "go.temporal.io/sdk/testsuite"
	_ "go.temporal.io/sdk/worker"
	_ "go.temporal.io/sdk/workflow"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/term"
	_ "golang.org/x/text/cases"
	_ "google.golang.org/api/option"
	_ "modernc.org/sqlite"
	_ "pgregory.net/rapid"
)
