// Package signal detects in a user's words whether an agent did something wrong, or should continue as it does.
package signal

import (
	"slices"
	"strings"
	"sync"

	"axiommind/activities/llm/prose"
	"axiommind/schema"
)

// Signal is the user's feedback on the agent's work.
type Signal string

// Signals.
const (
	// Correction: the agent did or understood something wrong.
	Correction Signal = "correction"
	// Reinforcement: the agent should continue as it does.
	Reinforcement Signal = "reinforcement"
)

// Version names the rules of signals. It changes whenever their results change.
const Version = "signals-v1"

// recentMessages is how many messages at the end of a conversation [Last] looks at.
const recentMessages = 6

// Shown is a signal and the index of the message with it.
type Shown struct {
	Signal       Signal
	MessageIndex int
}

// Last returns the signals in the last six messages, in order. Only a user's messages contain signals. A correction
// hides reinforcement, because a user who corrects the agent does not praise it.
func Last(messages []schema.Message) []Shown {
	return Of(messages[max(0, len(messages)-recentMessages):])
}

// Of returns the signals in any of the messages, as [Last] does.
func Of(messages []schema.Message) []Shown {
	var out []Shown
	corrects := false
	for _, m := range messages {
		if m.Role != schema.RoleUser || !m.Extractable() {
			continue
		}
		if s := signalOf(m.Text); s != "" {
			out = append(out, Shown{s, m.Index})
			corrects = corrects || s == Correction
		}
	}
	if corrects {
		out = slices.DeleteFunc(out, func(s Shown) bool { return s.Signal == Reinforcement })
	}
	return out
}

// signalOf returns the signal that the text shows, or "".
func signalOf(text string) Signal {
	text = strings.Join(strings.Fields(text), " ")
	all := phrases()
	var out Signal
	for _, h := range all.Find(text) {
		switch k := all.kinds[h.Phrase]; {
		case k == wrong:
			return Correction
		case k == right || endsSentence(text[h.End:]):
			out = Reinforcement
		}
	}
	return out
}

// endsSentence reports whether a phrase that the text follows ends a sentence or the message.
func endsSentence(after string) bool {
	return after == "" || strings.IndexAny(after, ".!?。！？") == 0
}

type kind uint8

const (
	wrong kind = iota
	right
	// closing phrases are parts of other talk, too, and count where they end a sentence.
	closing
)

type finder struct {
	*prose.Phrases
	kinds []kind
}

// phrases are plain phrases on purpose: a signal is a hint to a model, which reads the words itself. Those of
// reinforcement that are also parts of other talk, such as "perfect", count where they end a sentence.
var phrases = sync.OnceValue(func() *finder {
	that := []string{"that's ", "that is "}
	f := &finder{}
	var all []string
	group := func(k kind, texts ...string) {
		for _, t := range texts {
			all, f.kinds = append(all, t), append(f.kinds, k)
		}
	}
	var yes []string
	for _, lead := range []string{"yes ", "yes, ", "yes. "} {
		yes = append(yes, phrasesOf([]string{lead}, "exactly", "perfect")...)
		yes = append(yes, phrasesOf(phrasesOf([]string{lead}, that...), "right", "correct", "it")...)
	}
	group(wrong, phrasesOf(that, "wrong", "incorrect")...)
	group(wrong, "you misunderstood", "try again", "redo")
	group(wrong, "不对", "不對", "你理解错了", "你理解錯了", "你理解有误", "你理解有誤", "重试", "重試", "重新来", "重新來", "换一种", "換一種", "改用")
	group(wrong, "違います", "間違ってい", "間違いです", "そうじゃなく", "そうではなく", "誤解してい", "やり直して", "もう一度やって")
	group(wrong, "그게 아니라", "그게 아니고", "틀렸", "잘못 이해", "잘못됐", "잘못되었", "다시 해줘", "다시 해 줘", "다시 해주세요", "다시 시도해")
	group(right, yes...)
	group(right, phrasesOf(that, "right", "correct", "exactly right", "exactly correct")...)
	group(right, phrasesOf(phrasesOf(that, "what i ", "exactly what i "), "wanted", "needed", "meant")...)
	group(right, "exactly right", "exactly correct", "keep that", "keep doing that")
	group(right, "just that", "just this", "just like that", "just like this")
	group(closing, "perfect", "this is great", "this is helpful", "this is what i wanted")
	group(closing, "对就是这样", "对，就是这样", "对,就是这样", "对, 就是这样", "对， 就是这样", "对 就是这样", "完全正确", "就是这个意思", "正是我想要的",
		"继续保持", "對，就是這樣", "對,就是這樣", "對就是這樣", "完全正確", "就是這個意思", "正是我想要的", "繼續保持")
	group(closing, "その通りです", "そのとおりです", "完璧です", "その調子で")
	group(closing, "바로 그거야", "바로 그거예요", "바로 그겁니다", "정확해", "정확해요", "정확합니다", "완벽해", "완벽해요", "완벽합니다", "계속 그렇게 해줘",
		"계속 그렇게 해 줘")
	f.Phrases = prose.NewPhrases(all)
	return f
})

// phrasesOf returns each beginning with each ending.
func phrasesOf(beginnings []string, endings ...string) []string {
	out := make([]string, 0, len(beginnings)*len(endings))
	for _, b := range beginnings {
		for _, e := range endings {
			out = append(out, b+e)
		}
	}
	return out
}
