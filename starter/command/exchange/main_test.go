package exchange_test

import (
	"testing"

	"axiommind/deploy/local/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }
