package evidence

import (
	"sort"
	"strings"
)

// view is a text in a normal form, with the way back to the text it was made of.
type view struct {
	text string
	runs []run
}

// run maps a stretch of a view that begins at byte to and ends where the next run begins. A linear
// run (size 0) stands byte for byte on the bytes from from on; any other stands as a whole on size
// bytes. Bytes of the original that no run covers are left out of the view.
type run struct{ to, from, size int }

// original returns the bytes that a range of the view stands on.
func (v *view) original(start, end int) extent {
	i := v.runAt(start)
	x := extent{start: v.runs[i].from}
	if v.runs[i].size == 0 {
		x.start += start - v.runs[i].to
	}
	i = v.runAt(end - 1)
	if r := v.runs[i]; r.size == 0 {
		x.end = r.from + end - r.to
	} else {
		x.end = r.from + r.size
	}
	return x
}

// runAt returns the index of the run that holds a byte of the view.
func (v *view) runAt(at int) int {
	return sort.Search(len(v.runs), func(i int) bool { return v.runs[i].to > at }) - 1
}

// within returns the range of the view that stands wholly inside a range of the original.
func (v *view) within(x extent) (start, end int) {
	start = v.position(x.start, false)
	end = v.position(x.end, true)
	return start, max(start, end)
}

// position returns the first byte of the view that stands on byte at of the original or after it;
// with end, the byte after the last that stands before it.
func (v *view) position(at int, end bool) int {
	i := sort.Search(len(v.runs), func(i int) bool { return v.runs[i].from >= at }) - 1
	if i < 0 {
		return 0
	}
	r, next := v.runs[i], len(v.text)
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

// trim leaves out the spaces at both ends.
func (v *view) trim() *view {
	text := strings.TrimLeft(v.text, " ")
	cut := len(v.text) - len(text)
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
	return &view{text: text, runs: runs}
}
