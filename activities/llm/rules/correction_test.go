package rules

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func TestMistake(t *testing.T) {
	t.Parallel()
	for sentence, want := range map[string]string{
		"No, actually the port should be 8081 not 8080.":          "8080",
		"No, use spaces, not tabs, please.":                       "tabs",
		"Correction: the meeting is on Tuesday, not on Monday.":   "on Monday",
		"No, use `pnpm` instead of `npm install` because it's so": "npm install",
		"It should be Postgres rather than MySQL.":                "MySQL",
		"No, it's not 8080, it's 8081.":                           "8080",
		"No, the port isn't 8080 but 8081.":                       "8080",
		"Actually it's not the client, it is the server.":         "the client",
		"No, don't use tabs.":                                     "",
		"No, it is not ready.":                                    "",
		"No, that's not what I said.":                             "",
		"No, the tests should not run twice.":                     "",
		"Actually, it's not only the client, it's all of them.":   "",
		"No, we have not decided.":                                "",
		"不对，端口应该是 8081 而不是 8080。":                                 "8080",
		"不对，不是 8080，而是 8081。":                                     "8080",
		"不是，应该是周二，不是周一。":                                          "周一",
		"不是这样。":                                                   "",
		"不对，是不是周一？":                                               "",
		"不对，用空格而非制表符。":                                            "制表符",
		"違います、ポートは 8080 ではなく 8081 です。":                            "8080",
		"そうではなく 8081 です。":                                         "",
		"いいえ、月曜日じゃなくて火曜日です。":                                      "月曜日",
		"아니요, 포트는 8080이 아니라 8081입니다.":                             "8080",
		"그게 아니라 8081이에요.":                                         "",
		"아니, 탭 말고 스페이스 써줘.":                                       "탭",
		"틀렸어요.": "",
	} {
		require.Equal(t, want, mistake(sentence), "%q", sentence)
	}
}

func TestCorrectionsNameTheMistake(t *testing.T) {
	t.Parallel()
	got := Extract(say(schema.RoleUser, "No, actually the port should be 8081 not 8080."), true).Entries
	require.Len(t, got, 1)
	require.Equal(t, schema.CategoryCorrection, got[0].Category)
	require.Equal(t, "8080", got[0].SourceError)
	for _, e := range Extract(say(schema.RoleUser, "We decided to use Go instead of Zig."), true).Entries {
		require.Empty(t, e.SourceError, "a choice is no correction")
	}
}
