package e5_test

import (
	"os"
	"testing"

	"axiommind/activities/llm/e5"
	"axiommind/deploy/local/stacktest"
)

func TestMain(m *testing.M) {
	e5.SetInstall(stacktest.Embedder)
	os.Exit(m.Run())
}
