package clickhouse_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
)

func TestPrefix(t *testing.T) {
	t.Parallel()
	none := errors.New("no such thing")
	for _, tt := range []struct {
		given string
		ids   []string
		id    string
		says  string
	}{
		{"abcd", []string{"abcd1"}, "abcd1", ""},
		{"ABCD", []string{"abcd1"}, "abcd1", ""},
		{"abcdef", []string{"abcdef", "abcdef1"}, "abcdef", ""},
		{"abc", []string{"abc1"}, "", `thing "abc" in here: no such thing: give an id, the first 4 or more characters of one`},
		{"abcde", nil, "", `thing "abcde" in here: no such thing`},
		{"abcdefg", []string{"abcdefg1", "abcdefg2"}, "", `thing "abcdefg" in here: ambiguous: abcdefg1, abcdefg2 begin with it: give more of the id`},
		{"abcdefgh", []string{"abcdefgh1", "abcdefgh2", "abcdefgh3"}, "", "abcdefgh3 and perhaps more begin with it"},
	} {
		id, err := clickhouse.Prefix{What: "thing", Where: "here", Given: tt.given, NotFound: none}.Pick(tt.ids)
		require.Equal(t, tt.id, id)
		if tt.says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, tt.says)
		require.True(t, errors.Is(err, none) || errors.Is(err, clickhouse.ErrAmbiguous))
	}
	_, err := clickhouse.Prefix{Given: "abcde", NotFound: none}.Pick(nil)
	require.EqualError(t, err, "no such thing: give an id, the first 4 or more characters of one")
}

func TestChoose(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"abcdef1", "first"}, {"abcdef", "second"}}
	idOf := func(row []string) string { return row[0] }
	row, err := clickhouse.Choose(clickhouse.Prefix{Given: "abcdef"}, rows, idOf)
	require.NoError(t, err)
	require.Equal(t, rows[1], row)
	row, err = clickhouse.Choose(clickhouse.Prefix{Given: "abcde"}, rows, idOf)
	require.ErrorIs(t, err, clickhouse.ErrAmbiguous)
	require.Nil(t, row)
}

// Only the names of projects are read, of at most a few, and none for a text that is too short for an id.
func TestProjectsWith(t *testing.T) {
	t.Parallel()
	conn := withWords(t)
	require.NoError(t, conn.Exec(t.Context(), "CREATE TABLE things (project String, id String) ENGINE = MergeTree ORDER BY id"))
	require.NoError(t, clickhouse.Insert(t.Context(), conn, "things (project, id)", [][]any{
		{"shop", "abcd1"}, {"shop", "abcd2"}, {"demo", "abcd3"}, {"x", "abcd4"}, {"y", "abcd5"}, {"other", "bcde1"},
	}))
	for text, want := range map[string][]string{
		"ABCD": {"demo", "shop", "x"}, "abcd1": {"shop"}, "bcde1": {"other"}, "zzzz": nil, "abc": nil, "": nil,
	} {
		found, err := clickhouse.ProjectsWith(t.Context(), conn, "things", "id", text)
		require.NoError(t, err)
		require.Equal(t, want, found, "%q", text)
	}
	_, err := clickhouse.ProjectsWith(t.Context(), conn, "absent", "id", "abcd")
	require.ErrorContains(t, err, `find the projects with id "abcd": `)
}
