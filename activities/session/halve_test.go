package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

const smallest = 8

var halving = Cut{Size: windowSize, Limit: 1000, Small: smallest, Hash: hashShown}

// The halves of a window show the same text, in order and once; each shows something, and less than the window. Only
// small windows can't be halved. The halves of a session's windows, down to the smallest, all have places of their
// own.
func TestHalve(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := numbered(drawMessages(t, "messages"))
		cut := halving
		cut.Tools = rapid.Bool().Draw(t, "tools")
		windows, _, err := Plan(stream(messages), Frontier{}, cut)
		if err != nil {
			t.Fatal(err)
		}
		type place struct {
			hash             string
			first, byteStart int
		}
		places := map[place]schema.Window{}
		for len(windows) > 0 {
			w := windows[0]
			windows = windows[1:]
			at := place{w.Hash, w.First, w.ByteStart}
			if v, taken := places[at]; taken {
				t.Fatalf("%+v has the place of %+v", w, v)
			}
			places[at] = w
			whole := put(messages, []schema.Window{w}, cut.Tools)
			if small := trimmed(messages, w, cut.Tools) <= smallest; small != w.Small {
				t.Fatalf("window %+v shows %v", w, whole)
			}
			if w.Small {
				continue
			}
			asked := w
			asked.Asked, asked.Kept = 3, true
			left, right, ok := cut.Halve(messages[w.First:w.Last+1], asked)
			if !ok {
				t.Fatalf("window %+v of %v can't be halved", w, whole)
			}
			if !w.Contains(left) || !w.Contains(right) || left.Contains(right) || right.Contains(left) || left.Contains(w) || right.Contains(w) {
				t.Fatalf("halves %+v and %+v of %+v", left, right, w)
			}
			for _, half := range []schema.Window{left, right} {
				shown := Shown(messages, half, cut.Tools)
				if len(shown) == 0 || half.Hash != hashShown(shown) || half.Asked != 0 || half.Kept {
					t.Fatalf("half %+v of %+v shows %+v", half, w, shown)
				}
			}
			got := put(messages, []schema.Window{left, right}, cut.Tools)
			for m, text := range whole {
				if squeeze(got[m]) != squeeze(text) {
					t.Fatalf("the halves of %+v show %q of message %d, want %q", w, got[m], m, text)
				}
			}
			if again, _, _ := cut.Halve(messages[w.First:w.Last+1], w); again != left {
				t.Fatalf("halved again, %+v begins with %+v and not with %+v", w, again, left)
			}
			windows = append(windows, left, right)
		}
	})
}

func trimmed(messages []schema.Message, w schema.Window, tools bool) (n int) {
	for _, m := range Shown(messages, w, tools) {
		n += len(strings.TrimSpace(m.Text))
	}
	return n
}

// A window is halved between two messages where that leaves halves of about the same size, and else within the longer
// message: after a line, or at least after a character.
func TestHalveCuts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		texts       []string
		window      schema.Window
		left, right schema.Window
	}{
		"between messages": {
			texts: []string{"aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd"}, window: schema.Window{Last: 3},
			left: schema.Window{Last: 1}, right: schema.Window{First: 2, Last: 3},
		},
		"blank messages between": {
			texts: []string{"aaaaaaaa", "\n", "  ", "dddddddd"}, window: schema.Window{Last: 3},
			left: schema.Window{}, right: schema.Window{First: 3, Last: 3},
		},
		"within the longer one, after a line": {
			texts: []string{"aa", strings.Repeat("b", 19) + "\n" + strings.Repeat("c", 29)}, window: schema.Window{Last: 1},
			left: schema.Window{Last: 1, ByteEnd: 20}, right: schema.Window{First: 1, ByteStart: 20, Last: 1},
		},
		"within the longer one, which comes first": {
			texts: []string{strings.Repeat("b", 40), "aa"}, window: schema.Window{Last: 1},
			left: schema.Window{ByteEnd: 21}, right: schema.Window{ByteStart: 21, Last: 1},
		},
		"after a character": {
			texts: []string{"한국어한국어한"}, window: schema.Window{},
			left: schema.Window{ByteEnd: 9}, right: schema.Window{ByteStart: 9},
		},
		"a part of a message": {
			texts: []string{strings.Repeat("x", 100)}, window: schema.Window{ByteStart: 40, ByteEnd: 60},
			left: schema.Window{ByteStart: 40, ByteEnd: 50}, right: schema.Window{ByteStart: 50, ByteEnd: 60},
		},
		"white space around": {
			texts: []string{strings.Repeat(" ", 60) + "abcdefghijkl" + strings.Repeat("\n", 20)}, window: schema.Window{},
			left: schema.Window{ByteEnd: 61}, right: schema.Window{ByteStart: 61},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var messages []schema.Message
			for _, text := range c.texts {
				messages = append(messages, textMessage(text))
			}
			left, right, ok := halving.Halve(numbered(messages)[c.window.First:c.window.Last+1], c.window)
			require.True(t, ok)
			left.Hash, right.Hash = "", ""
			left.Small, right.Small = false, false
			require.Equal(t, fmt.Sprintf("%+v %+v", c.left, c.right), fmt.Sprintf("%+v %+v", left, right))
		})
	}
	_, _, ok := halving.Halve(numbered([]schema.Message{textMessage(strings.Repeat(" ", 99) + "한")}), schema.Window{})
	require.False(t, ok, "a character is not halved")
}
