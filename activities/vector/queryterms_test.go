package vector

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	language "axiommind/activities/text"
)

func TestAsked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		query, text string
		want        bool
	}{
		{"which database does billing use", "We decided to use PostgreSQL for the billing service.", true},
		{"migrations", "The team migrated the archive.", true},
		{"C++", "The parser of C++ headers crashes.", true},
		{"C#", "The parser of C++ headers crashes.", true}, // both are a C
		{"who will do it", "It will do for them.", true},   // only function words: all of them are terms
		{"who will bake bread", "It will do for them.", false},
		{"postgrse", "PostgreSQL was chosen.", true},
		{"postgresqll", "PostgreSQL was chosen.", true},
		{"pipline", "The pipeline is slow.", true},
		{"recieve", "We receive the mail at noon.", true},
		{"1234567", "1234568", false},
		{"port", "part", false},
		{"PostgreSQL", "Those posters are great.", false},
		{"배포를 언제 하나요", "배포는 금요일 오후에 하지 않습니다.", true},
		{"외계인이 춤을 춥니다", "배포는 금요일 오후에 하지 않습니다.", false},
		{"我们什么时候吃饭", "我们决定使用消息队列处理订单。", false},
		{"我们什么时候处理订单", "我们决定使用消息队列处理订单。", true},
		{"猫はどこですか", "デプロイは金曜日に行わないです。", false},
		{"金曜日のデプロイ", "デプロイは金曜日に行わない。", true},
		{"Wo ist der Bahnhof", "Das Backup ist auf der Platte.", false},
		{"où est la gare", "la sauvegarde est sur le disque", false},
		{"где вокзал", "резервная копия на диске", false},
		{"รถไฟ", "ตารางรถไฟวันศุกร์", true},
		{"🎉🎉", "Launch party 🎉", true},
		{"🎉", "❤️", false},
		{"❤️", "☀️ is out", false},
		{"-", "a - b", false},
		{"", "anything", false},
	} {
		require.Equal(t, tt.want, NewQueryTerms(tt.query).Share(tt.text) > 0, "%q in %q", tt.query, tt.text)
	}
}

// A text contains its own query terms.
func TestQueryTermsFindThemselves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if got := NewQueryTerms(text).Share(text) > 0; got != (language.Terms(text) != "") {
			t.Fatalf("%q is found in itself: %t", text, got)
		}
	})
}
