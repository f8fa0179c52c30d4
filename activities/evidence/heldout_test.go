package evidence

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// language is the part of the held-out corpus written in one language, with words that say
// something more wherever they are put.
type language struct {
	name       string
	statements []statement
	added      []string
}

// heldOut is a corpus that the rules of the aligner were not written against.
var heldOut = []language{
	{"english", slices.Concat(heldOutWork, heldOutLife, heldOutShort), []string{"allegedly", "temporarily", "almost", "former", "partially", "Stefan", "supposedly", "internal", "seldom", "cheapest"}},
	{"korean", heldOutKorean, []string{"아마도", "임시로", "거의", "예전", "윤서연", "일부", "가짜"}},
	{"chinese", heldOutChinese, nil},
	{"japanese", heldOutJapanese, nil},
	{"german", heldOutGerman, []string{"angeblich", "vorläufig", "beinahe", "ehemalige", "Ulrike", "selten"}},
	{"french", heldOutFrench, []string{"prétendument", "presque", "rarement", "ancien", "Gilles", "provisoire"}},
	{"spanish", heldOutSpanish, []string{"supuestamente", "casi", "raramente", "antiguo", "Rodrigo", "provisional"}},
	{"russian", heldOutRussian, []string{"якобы", "почти", "редко", "бывший", "Геннадий", "временно"}},
	{"portuguese", heldOutPortuguese, []string{"supostamente", "quase", "raramente", "antigo", "Rafaela", "provisório"}},
	{"mixed", heldOutMixed, []string{"maybe", "almost", "legacy", "Sandra", "partially"}},
}

// place is a statement of the corpus and the index of the message that holds it.
type place struct {
	language  *language
	statement statement
	index     int
}

func heldOutPlaces() []place {
	var places []place
	for i := range heldOut {
		for _, s := range heldOut[i].statements {
			places = append(places, place{&heldOut[i], s, len(places)})
		}
	}
	return places
}

// heldOutMessages puts each statement into a message of its own, between other lines.
func heldOutMessages() []schema.Message {
	places := heldOutPlaces()
	messages := make([]schema.Message, len(places))
	for i, p := range places {
		messages[i] = schema.Message{Index: i, Text: "Log of the afternoon\n\n" + p.statement.text + "\n\nEnd of the log"}
	}
	return messages
}

func TestHeldOutCorpusIsWellFormed(t *testing.T) {
	t.Parallel()
	statements, swaps, english := 0, 0, 0
	seen := make(map[string]bool)
	for _, p := range heldOutPlaces() {
		text := p.statement.text
		require.False(t, seen[text], text)
		seen[text] = true
		statements++
		if p.language.name == "english" {
			english++
		}
		require.GreaterOrEqual(t, len(p.statement.swaps), 4, text)
		for _, swap := range p.statement.swaps {
			swaps++
			require.Equal(t, 1, strings.Count(text, swap[0]), "%q in %q", swap[0], text)
			require.NotContains(t, text, strings.Replace(text, swap[0], swap[1], 1))
		}
	}
	require.GreaterOrEqual(t, statements, 120)
	require.GreaterOrEqual(t, swaps, 700)
	t.Logf("held-out corpus: %d statements, %d of them English, %d swaps", statements, english, swaps)
}
