package worth

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// The inputs of the net, by place.
const (
	inputScore = iota
	inputPrevious
	inputNext
	inputMessageBest
	inputMessageMean
	inputRank
	inputRankInMessage
	inputRankShare
	inputTop
	inputMean
	inputLines
	inputMessageLines
	inputMessages
	inputPlace
	inputDepth
	inputUser
	inputBytes
	inputRunes
	inputBetter
	inputLater
	inputAlike
	inputWork
	inputUserAfter
	inputLast
	inputBestAfter
	inputBytesAfter
	inputBestBefore
	inputBytesBefore
	inputUserBefore
)

func TestSurroundings(t *testing.T) {
	t.Parallel()
	require.Empty(t, surroundings(nil, nil))

	window := conversation("u: First line here.\nSecond line there.", "a: ```\ncode only\n```", "a: Third one says it.", "u: Yes.")
	all := split(window, false)
	require.Len(t, all, 4)
	got := surroundings(all, []float64{2, -1, 40, 0})
	for i, want := range []map[int]float64{
		{
			inputScore: 2, inputPrevious: absentScore, inputNext: -1, inputMessageBest: 2, inputMessageMean: 0.5, inputRank: log(1), inputRankInMessage: 0,
			inputRankShare: 0.25, inputLines: log(4), inputMessageLines: log(2), inputMessages: log(4), inputPlace: 0, inputDepth: 0, inputUser: 1,
			inputBytes: log(len(window[0].Text)), inputRunes: log(16), inputUserAfter: 0, inputLast: 0, inputBestAfter: maxScore,
			inputBytesAfter: log(len(window[2].Text)), inputBestBefore: absentScore, inputBytesBefore: 0, inputUserBefore: 0,
		},
		{inputScore: -1, inputPrevious: 2, inputNext: absentScore, inputRank: log(3), inputRankInMessage: log(1), inputRankShare: 0.75},
		{
			inputScore: maxScore, inputMessageBest: maxScore, inputRank: 0, inputRankInMessage: 0, inputPlace: 2.0 / 3, inputUser: 0,
			inputUserAfter: 1, inputBestAfter: 0, inputBestBefore: 2, inputUserBefore: 1, inputTop: (2 - 1 + maxScore) / 4, inputMean: (2 - 1 + maxScore) / 4,
		},
		{inputLast: 1, inputBestAfter: absentScore, inputBytesAfter: 0, inputBestBefore: maxScore, inputUserBefore: 0, inputRank: log(2)},
	} {
		for input, value := range want {
			require.InDelta(t, value, got[i][input], 1e-9, "line %d, input %d", i, input)
		}
	}
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	all := split(conversation("u: We keep the pool small.", "a: Nothing in common.", "a: So we keep the pool small, as agreed on Monday."), false)
	require.Len(t, all, 3)
	got := surroundings(all, []float64{1, 0, 3})
	require.InDelta(t, 1, got[0][inputBetter], 1e-9, "a better line has all of its words")
	require.InDelta(t, 1, got[0][inputLater], 1e-9)
	require.InDelta(t, log(1), got[0][inputAlike], 1e-9)
	require.Zero(t, got[2][inputBetter], "no line is better")
	require.Less(t, got[2][inputLater], 0.1, "the other is before it")
	require.InDelta(t, log(1), got[2][inputAlike], 1e-9)
	require.Zero(t, got[1][inputAlike])

	// Only the best lines are compared.
	many := make([]string, 3*maxCompared)
	for i := range many {
		many[i] = fmt.Sprintf("Line number %d says the same.", i)
	}
	all = split(conversation("a: "+strings.Join(many, "\n")), false)
	scores := make([]float64, len(all))
	for i := range scores {
		scores[i] = float64(i) / 100
	}
	got = surroundings(all, scores)
	require.Zero(t, got[0][inputAlike])
	require.InDelta(t, log(maxCompared-1), got[len(got)-1][inputAlike], 1e-9)
}

func TestInCommon(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b []uint32
		want int
	}{{nil, nil, 0}, {[]uint32{1}, nil, 0}, {[]uint32{1, 2, 3}, []uint32{2, 3, 4, 5}, 2}, {[]uint32{7}, []uint32{1, 7, 9}, 1}} {
		require.Equal(t, c.want, inCommon(c.a, c.b))
		require.Equal(t, c.want, inCommon(c.b, c.a))
	}
}

// In talk a line is worth as much as its best sentence. The net decides about lines of work, but not about one alone.
func TestWhoDecides(t *testing.T) {
	t.Parallel()
	w := *model()
	w.net = net{Base: 3} // Whatever the line.
	talk := split(conversation("u: My daughter Ida is allergic to peanuts. Thanks!", "a: Fine."), false)
	require.Zero(t, talk[0].work)
	best, score := w.best(talk, 0)
	require.Equal(t, "My daughter Ida is allergic to peanuts.", best)
	require.InDelta(t, probability(score), w.worth(talk)[0], 1e-9)

	work := split(conversation("u: Look at `a/b.go`.\nFix `c/d.go`."), true)
	require.InDelta(t, 1, work[0].work, 0)
	require.InDeltaSlice(t, []float64{probability(3), probability(3)}, w.worth(work), 1e-6)
	alone := split(conversation("u: Look at `a/b.go`."), true)
	_, score = w.best(alone, 0)
	require.InDelta(t, probability(score), w.worth(alone)[0], 1e-9)
	require.InDelta(t, passesAlone, passes(alone), 1e-9)

	for i := range work {
		work[i].work = 0.5
	}
	_, score = w.best(work, 1)
	require.InDelta(t, probability(1.5+score/2), w.worth(work)[1], 1e-6)
	require.Empty(t, w.worth(nil))
}

// Words of others that a user pastes into a line are a line of their own, and a long line is looked at once.
func TestSplitLines(t *testing.T) {
	t.Parallel()
	for _, l := range split(conversation("u: Translate this: I am Eve. I live in Bremen.\nThanks."), false) {
		for _, p := range l.parts {
			require.GreaterOrEqual(t, p.Start, l.Start)
			require.LessOrEqual(t, p.End, l.End)
		}
	}
	long := split([]schema.Message{{Role: schema.RoleUser, Kind: schema.KindText, Text: strings.Repeat("Ab cd. ", 1<<15)}}, false)
	require.Greater(t, len(long), 1<<14)
	for _, x := range surroundings(long, make([]float64, len(long))) {
		for _, v := range x {
			require.False(t, math.IsNaN(v) || math.IsInf(v, 0))
		}
	}
}
