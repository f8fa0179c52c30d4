package tier

import (
	"slices"
	"strings"
	"unicode/utf8"

	"axiommind/activities/text"
	"axiommind/schema"
)

// Window is a part of the gathered input that one call of the model reads.
type Window struct {
	// Prompt is the text of the call.
	Prompt string
	// MaxOutputTokens is the limit of its answer.
	MaxOutputTokens int
}

const (
	// minWindowBytes is the size of the smallest window.
	minWindowBytes = 1 << 10
	// maxWindows is how many windows a level has at most. Every call of the next level is given the keys of all answers.
	maxWindows = 256
)

// Windows returns the calls of the next level of a dream. The answers are those of the level before, nil for the first.
// last is true if the answers to the windows are the input of [Compose]: then the windows contain the memory too.
// Otherwise each answer to a window distills it, and Windows is called again with all of them. A distilled answer with
// a [Answer.Problem] must not be used. The dream must be refused, because it would leave out days unseen.
//
// If everything fits into maxBytes, there is one window and it is the last level. Otherwise the sources of the days are
// split into windows and each is distilled. The next level has those statements of the answers that the days support.
// Levels go on until everything fits or a level has more than three quarters of the windows of the one before. Then the
// last level has as many windows as it needs, each with the memory. A memory of more than half of maxBytes is split
// too: each window has a part of it and each part a window, because an item that no window shows could not be kept.
//
// A maxBytes of less than a kibibyte counts as one. A window is larger if one item of the memory is, and all are if
// there were more than maxWindows of them otherwise.
func Windows(g schema.DreamGatheredPayload, answers []Answer, maxBytes int, l Labels) (windows []Window, last bool) {
	w := windower{g: g, l: l, maxBytes: max(maxBytes, minWindowBytes)}
	var all []piece
	if answers == nil {
		if whole := Prompt(g, l); len(whole) <= w.maxBytes {
			return []Window{windowOf(whole)}, true
		}
		all = piecesOf(g, l)
	} else {
		all = distilled(g, answers, l)
	}
	for {
		windows, last = w.level(all, answers)
		if len(windows) <= maxWindows {
			return windows, last
		}
		w.maxBytes = max(w.maxBytes+w.maxBytes/8, w.maxBytes/maxWindows*len(windows))
	}
}

// piece is a text of a day that is not split, but for its length.
type piece struct {
	// day is the number of the day among those gathered.
	day     int
	learned bool
	text    string
}

// piecesOf returns the content of the days, source by source.
func piecesOf(g schema.DreamGatheredPayload, l Labels) []piece {
	var pieces []piece
	for day := range g.Days {
		for _, learned := range []bool{false, true} {
			for _, s := range g.Days[day].Sources {
				if recorded(s.Kind) == learned || strings.TrimSpace(s.Text) == "" {
					continue
				}
				text := strings.TrimSpace(s.Text)
				if learned {
					text = listed(s.Text)
				}
				pieces = append(pieces, piece{day, learned, quoted(text, l)})
			}
		}
	}
	return pieces
}

// distilled returns the statements of the answers that the days support, each once, on the newest day that says it.
func distilled(g schema.DreamGatheredPayload, answers []Answer, l Labels) []piece {
	grounds, said := groundsOf(g), newGrounds()
	byDay := make([][]piece, len(g.Days))
	for _, a := range answers {
		items, _ := parseItems(a.Memory, false)
		for _, item := range items {
			found := grounds.holdsIn(item.Text, func(n int) bool { return grounds.days[n] >= 0 })
			if len(found) == 0 || said.same(item.Text) >= 0 {
				continue
			}
			said.addItem(item.Text)
			day := len(g.Days)
			for _, n := range found {
				day = min(day, grounds.days[n])
			}
			byDay[day] = append(byDay[day], piece{day: day, text: quoted(listed(joined(item.Text)), l)})
		}
	}
	return slices.Concat(byDay...)
}

// windower makes windows.
type windower struct {
	g        schema.DreamGatheredPayload
	l        Labels
	maxBytes int
}

// level returns the windows of the level after the answers, and whether it is the last one.
func (w windower) level(pieces []piece, answers []Answer) (windows []Window, last bool) {
	windows = w.last(pieces)
	if len(windows) == 1 {
		return windows, true
	}
	distilling := w.distilling(pieces)
	shrinks := answers == nil || 4*len(distilling) <= 3*len(answers)
	if len(distilling) > 1 && shrinks {
		return distilling, false
	}
	return windows, true
}

// distilling returns windows with the pieces alone.
func (w windower) distilling(pieces []piece) []Window {
	var windows []Window
	for _, days := range w.pack(pieces, w.maxBytes-len(prompt{}.render(w.l))) {
		windows = append(windows, windowOf(prompt{days: days, count: len(days)}.render(w.l)))
	}
	return windows
}

// last returns windows with the memory and the pieces.
func (w windower) last(pieces []piece) []Window {
	parts := w.memoryParts()
	largest := 0
	for _, part := range parts {
		largest = max(largest, len(quoted(part, w.l)))
	}
	room := w.maxBytes - largest - len(prompt{hasMemory: true}.render(w.l))
	packed := w.pack(pieces, room)
	var windows []Window
	for i := range max(len(packed), len(parts)) {
		p := prompt{hasMemory: true, memory: parts[i%len(parts)]}
		if i < len(packed) {
			p.days, p.count = packed[i], len(packed[i])
		}
		windows = append(windows, windowOf(p.render(w.l)))
	}
	return windows
}

// memoryParts returns the memory in parts of at most half a window, but for a larger item. There is at least one.
func (w windower) memoryParts() []string {
	var parts []string
	var items []schema.CoreItem
	size := 0
	for _, item := range w.g.Memory {
		n := len(quoted(RenderCore([]schema.CoreItem{item}), w.l)) + 1
		if len(items) > 0 && size+n > w.maxBytes/2 {
			parts, items, size = append(parts, RenderCore(items)), nil, 0
		}
		items, size = append(items, item), size+n
	}
	return append(parts, RenderCore(items))
}

// pack returns the pieces in windows, each of at most so many bytes. A window has the days of its pieces.
func (w windower) pack(pieces []piece, room int) [][]promptDay {
	// A text is always cut into pieces of some size, however little room there is.
	room = max(room, minWindowBytes/4)
	var windows [][]promptDay
	var days []promptDay
	size, last := 0, piece{day: -1}
	for _, whole := range pieces {
		head := w.head(whole)
		for _, text := range splitText(whole.text, room-len(head)) {
			text = closed(text)
			p := piece{whole.day, whole.learned, text}
			if len(days) > 0 && size+len(head)+len(text) > room {
				windows, days, size, last = append(windows, days), nil, 0, piece{day: -1}
			}
			separator := "\n\n"
			switch {
			case p.day != last.day:
				days = append(days, promptDay{date: w.g.Days[p.day].Date})
				separator = ""
			case p.learned == last.learned && strings.HasPrefix(p.text, "- "):
				separator = "\n"
			}
			day := &days[len(days)-1]
			if p.learned && (separator == "" || !last.learned) {
				separator += w.l.Learned + "\n\n"
			}
			day.text += separator + p.text
			size += len(head) + len(p.text)
			last = p
		}
	}
	if len(days) > 0 {
		windows = append(windows, days)
	}
	return windows
}

// head returns the most that may come before a piece.
func (w windower) head(p piece) string {
	head := "\n\n### " + w.g.Days[p.day].Date + "\n\n"
	if p.learned {
		head += w.l.Learned + "\n\n"
	}
	return head
}

// splitText splits a text that is longer than so many bytes: on lines, or if a line is longer on its sentences, or if a
// sentence is longer, where it must.
func splitText(whole string, most int) []string {
	if len(whole) <= most {
		return []string{whole}
	}
	most = max(most, utf8.UTFMax)
	var units []string
	for line := range strings.SplitAfterSeq(whole, "\n") {
		if len(line) <= most {
			units = append(units, line)
			continue
		}
		at := 0
		for _, end := range text.NewBoundaries(line).Sentences() {
			units = append(units, cutText(line[at:end], most)...)
			at = end
		}
		units = append(units, cutText(line[at:], most)...)
	}
	var parts []string
	size := most
	for _, unit := range units {
		if size+len(unit) > most {
			parts, size = append(parts, ""), 0
		}
		parts[len(parts)-1] += unit
		size += len(unit)
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return strings.TrimSpace(part) == "" })
	for i := range parts {
		parts[i] = strings.Trim(parts[i], "\n")
	}
	return parts
}

// cutText cuts a text into pieces of at most so many bytes, between characters.
func cutText(s string, most int) []string {
	var pieces []string
	for len(s) > most {
		n := max(1, len(text.Head(s, most)))
		pieces, s = append(pieces, s[:n]), s[n:]
	}
	return append(pieces, s)
}
