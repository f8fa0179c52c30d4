package normal

import (
	"sort"
	"strings"
)

// View is a text in a normal form, with the mapping to its original.
type View struct {
	Text string
	runs []run
}

// run maps a stretch of a view that begins at byte to and ends where the next run begins. A linear run
// (size 0) represents the bytes from from on, byte for byte; any other represents size bytes as a whole.
// Bytes of the original that no run covers are left out of the view.
type run struct{ to, from, size int }

// Original returns the bytes of the original that a range of the view, which is not empty, represents.
func (v *View) Original(start, end int) (from, to int) {
	r := v.runs[v.runAt(start)]
	from = r.from
	if r.size == 0 {
		from += start - r.to
	}
	if r = v.runs[v.runAt(end-1)]; r.size == 0 {
		return from, r.from + end - r.to
	}
	return from, r.from + r.size
}

// runAt returns the index of the run that contains a byte of the view.
func (v *View) runAt(at int) int {
	return sort.Search(len(v.runs), func(i int) bool { return v.runs[i].to > at }) - 1
}

// Within returns the range of the view that is wholly inside a range of the original.
func (v *View) Within(from, to int) (start, end int) {
	start = v.position(from, false)
	return start, max(start, v.position(to, true))
}

// position returns the first byte of the view that represents byte at of the original or a later one; with
// end, the byte after the last that represents an earlier one.
func (v *View) position(at int, end bool) int {
	i := sort.Search(len(v.runs), func(i int) bool { return v.runs[i].from >= at }) - 1
	if i < 0 {
		return 0
	}
	r, next := v.runs[i], len(v.Text)
	if i+1 < len(v.runs) {
		next = v.runs[i+1].to
	}
	if r.size == 0 {
		return min(r.to+at-r.from, next)
	}
	if end && at < r.from+r.size {
		return r.to
	}
	return next
}

// Trim leaves out the spaces at both ends.
func (v *View) Trim() *View {
	text := strings.TrimLeft(v.Text, " ")
	cut := len(v.Text) - len(text)
	text = strings.TrimRight(text, " ")
	runs := make([]run, 0, len(v.runs))
	for i, r := range v.runs {
		if i+1 < len(v.runs) && v.runs[i+1].to <= cut || r.to >= cut+len(text) {
			continue
		}
		if r.to < cut {
			r.from += cut - r.to
			r.to = cut
		}
		r.to -= cut
		runs = append(runs, r)
	}
	return &View{Text: text, runs: runs}
}

// LeftOut calls yield for each stretch of the original, between the bytes from and to, that the view leaves
// out, with the byte of the view that follows it. No stretch is empty.
func (v *View) LeftOut(from, to int, yield func(at, from, to int)) {
	i := sort.Search(len(v.runs), func(i int) bool { return v.end(i) > from })
	for at := from; at < to; i++ {
		next, position := to, len(v.Text)
		if i < len(v.runs) {
			next, position = v.runs[i].from, v.runs[i].to
		}
		if end := min(next, to); at < end {
			yield(position, at, end)
		}
		if i == len(v.runs) {
			return
		}
		at = v.end(i)
	}
}

// end returns where in the original a run ends.
func (v *View) end(i int) int {
	r := v.runs[i]
	if r.size > 0 {
		return r.from + r.size
	}
	next := len(v.Text)
	if i+1 < len(v.runs) {
		next = v.runs[i+1].to
	}
	return r.from + next - r.to
}
