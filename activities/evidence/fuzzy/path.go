package fuzzy

// Edit is one column of an alignment of a quote with a source: the positions of their runes, -1 where
// one side has none.
type Edit struct{ Quote, Source int }

// Path aligns two texts with the fewest edits if those are no more than limit, computing only the
// band of the edit matrix that can hold so few. Of equal paths it takes one with the most equal runes.
func Path(q, s []rune, limit int) (columns []Edit, distance int, ok bool) {
	if d := len(q) - len(s); d > limit || -d > limit {
		return nil, 0, false
	}
	width := 2*limit + 1
	const far = 1 << 40
	// cost[j-i+limit] is the distance of the rests of q from i and of s from j.
	cost, below := make([]int, width+1), make([]int, width+1)
	from := make([]byte, (len(q)+1)*width)
	for i := len(q); i >= 0; i-- {
		for j := min(len(s), i+limit); j >= max(0, i-limit); j-- {
			at := j - i + limit
			best, step := far, byte(stepEnd)
			if i == len(q) && j == len(s) {
				best = 0
			}
			if i < len(q) && j < len(s) {
				c := below[at]
				if q[i] != s[j] {
					c += oneEdit + 1
				}
				best, step = c, stepBoth
			}
			if i < len(q) && at > 0 && below[at-1]+oneEdit < best {
				best, step = below[at-1]+oneEdit, stepQuote
			}
			if j < len(s) && at+1 < width && cost[at+1]+oneEdit < best {
				best, step = cost[at+1]+oneEdit, stepSource
			}
			cost[at] = best
			from[i*width+at] = step
		}
		for at := range cost {
			if j := i + at - limit; j < 0 || j > len(s) {
				cost[at] = far
			}
		}
		cost, below = below, cost
	}
	distance = below[limit] / oneEdit
	if distance > limit {
		return nil, distance, false
	}
	columns = make([]Edit, 0, max(len(q), len(s))+limit)
	for i, j := 0, 0; i < len(q) || j < len(s); {
		switch from[i*width+j-i+limit] {
		case stepBoth:
			columns = append(columns, Edit{i, j})
			i, j = i+1, j+1
		case stepQuote:
			columns = append(columns, Edit{i, -1})
			i++
		default:
			columns = append(columns, Edit{-1, j})
			j++
		}
	}
	return columns, distance, true
}

// oneEdit is the cost of an edit, so large that a substitution may cost one more and lose only to
// paths of as many edits.
const oneEdit = 1 << 14

// Steps of a path.
const (
	stepEnd = iota
	stepBoth
	stepQuote
	stepSource
)

// Starts returns where a match may begin that ends with s: each number of runes, counted from the end of s,
// that is at the given distance from the quote.
func Starts(q, s []rune, distance int) []int {
	const far = 1 << 29
	width := 2*distance + 1
	above, cost := make([]int, width), make([]int, width)
	for at := range above {
		above[at] = max(at-distance, 0)
		if at < distance {
			above[at] = far
		}
	}
	for i := 1; i <= len(q); i++ {
		for at := range cost {
			j := i + at - distance
			cost[at] = far
			if j < 0 || j > len(s) {
				continue
			}
			if j > 0 {
				c := above[at]
				if q[len(q)-i] != s[len(s)-j] {
					c++
				}
				cost[at] = c
			}
			if at+1 < width {
				cost[at] = min(cost[at], above[at+1]+1)
			}
			if at > 0 {
				cost[at] = min(cost[at], cost[at-1]+1)
			}
		}
		above, cost = cost, above
	}
	var lengths []int
	for at, c := range above {
		if j := len(q) + at - distance; c == distance && j > 0 && j <= len(s) {
			lengths = append(lengths, j)
		}
	}
	return lengths
}
