package redact

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/transcript/redact/redacttest"
	"axiommind/deploy/local/sharedtest"
)

// short pieces have the margins of long ones in proportion to texts that are not escaped.
var short = cut{piece: 1 << 10, margin: 2 << 10, overlap: 512, reach: 128 << 10}

// A secret on the border of two pieces is found, as in the whole text, and nothing else is.
func TestPiecesFindWhatTheWholeHolds(t *testing.T) {
	t.Parallel()
	sharedtest.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64Range(1, 1<<20).Draw(t, "seed")
		// Lines with names of secrets take the longest, and so most are plain.
		filler := strings.Join(redacttest.Ordinary(seed, 20), "\n"+strings.Repeat("An ordinary line of a log, without anything in it.\n", 3))
		cases := redacttest.Cases(seed)
		c := cases[rapid.IntRange(0, len(cases)-1).Draw(t, "case")]
		border := short.piece * rapid.IntRange(1, 2).Draw(t, "pieces")
		before := strings.Repeat(filler+"\n", border/len(filler)+1)[:border-rapid.IntRange(0, len(c.Text)).Draw(t, "before the border")]
		text := strings.ToValidUTF8(before, " ") + "\n" + c.Text + "\n" + strings.Repeat(filler+"\n", (short.piece+short.margin)/len(filler)+1)
		whole, err := findShort(context.Background(), text)
		require.NoError(t, err)
		found, err := short.find(context.Background(), text)
		require.NoError(t, err)
		require.Equal(t, merge(text, whole), merge(text, found), "%s, %s", c.Kind, c.Wording)
	})
}

// A secret that is longer than the margin of a piece is read to its end.
func TestPiecesReadOn(t *testing.T) {
	t.Parallel()
	m := redacttest.NewMaker(7)
	secret := m.Of(30)
	lines := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(m.Of(64) + "\n")
		}
		return b.String()
	}
	key := "-----BEGIN RSA PRIVATE " + "KEY-----\n" + lines(4<<10) + "-----END RSA PRIVATE " + "KEY-----"
	encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("nothing to see here, ", 250) + "password=" + secret + " and on"))
	image := strings.Repeat(base64.StdEncoding.EncodeToString([]byte{0xff, 0xd8, 0xff, 0xe0, 9, 200, 7, 31, 77, 180, 66, 5}), 375)
	armored := "-----BEGIN PGP MESSAGE-----\n\n" + lines(6<<10) + "-----END PGP MESSAGE-----"
	pad := strings.Repeat("An ordinary line of a log, without anything in it.\n", 41)
	for _, back := range []int{1, short.piece * 3 / 4} {
		for name, long := range map[string]string{"key": key, "encoded": encoded, "image": image, "armor": armored} {
			text := pad[:short.piece-back] + "\n" + long + "\n" + strings.Repeat(pad, 2)
			whole, err := findShort(t.Context(), text)
			require.NoError(t, err)
			found, err := short.find(t.Context(), text)
			require.NoError(t, err)
			require.Equal(t, merge(text, whole), merge(text, found), "%s, %d before the border", name, back)
			require.Equal(t, name == "image" || name == "armor", len(found) == 0, name)
		}
	}
}

// Placeholders cost no more than they are many.
func TestWithoutPlaceholders(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 60).Draw(t, "size")
		marks := make([]bool, size)
		var placeholders [][2]int
		for at := 0; at < size; at += 1 + rapid.IntRange(0, 9).Draw(t, "gap") {
			end := min(size, at+rapid.IntRange(1, 5).Draw(t, "length"))
			placeholders = append(placeholders, [2]int{at, end})
			for ; at < end; at++ {
				marks[at] = true
			}
		}
		start := rapid.IntRange(0, size-1).Draw(t, "start")
		end := rapid.IntRange(start+1, size).Draw(t, "end")
		covered := make([]bool, size)
		for _, f := range without([]Finding{{RuleNamed, start, end}}, placeholders) {
			require.Less(t, f.Start, f.End)
			for i := f.Start; i < f.End; i++ {
				covered[i] = true
			}
		}
		for i := range size {
			require.Equal(t, start <= i && i < end && !marks[i], covered[i], i)
		}
	})
}

// A text is read no further once its context has ended.
func TestLongTextEndsWithItsContext(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("An ordinary line of a log, without anything in it.\n", 8<<20/50)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := TextContext(ctx, text)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = TakeOut(ctx, text, nil)
	require.ErrorIs(t, err, context.Canceled)
}
