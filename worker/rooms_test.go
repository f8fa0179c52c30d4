package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A room without a rule may import anything, and one without a line on the page is hard to find.
func TestEveryRoomHasItsPlace(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("../.golangci.yml")
	require.NoError(t, err)
	page, err := os.ReadFile("../ARCHITECTURE.md")
	require.NoError(t, err)
	rooms, err := os.ReadDir("../activities")
	require.NoError(t, err)
	for _, room := range rooms {
		require.True(t, strings.Contains(string(rules), `files: ["**/activities/`+room.Name()+`/**"`),
			"add a rule room-%s to .golangci.yml, and the room to what the rules after it allow", room.Name())
		require.True(t, strings.Contains(string(page), "`activities/"+room.Name()+"`") || strings.Contains(string(page), "`"+room.Name()+"`"), "add %s to the table of ARCHITECTURE.md", room.Name())
	}
}
