package retrieve

import "axiommind/activities/vector"

// Neighbours weighs the scores that messages get from those next to them. An answer often shares no word with the
// question, and follows the message that does. A neighbour counts by the square of its own score, because there are
// many weak matches by chance.
type Neighbours struct {
	// Next is the weight of the messages directly before and after it, and Second of those at distance two.
	Next, Second float64
	// Long is the number of terms from which on a message counts more by itself: one of twice as many gets half of its
	// neighbours' scores. A long message names its own topic, and a long reply follows each question.
	Long int
}

// messagePlace is the position of a message.
type messagePlace struct {
	agent, session string
	message        int
}

// add adds its neighbours' scores to each candidate. Then one factor scales all scores down, so that the best message
// does not gain on hits of other kinds.
func (n Neighbours) add(candidates []vector.Candidate) {
	plain := make(map[messagePlace]float64, len(candidates))
	best := 0.0
	for _, c := range candidates {
		plain[messagePlace{c.Agent, c.SessionID, c.Message}] = c.Score
		best = max(best, c.Score)
	}
	most := best
	for i := range candidates {
		c := &candidates[i]
		at := func(distance int) float64 {
			score := plain[messagePlace{c.Agent, c.SessionID, c.Message + distance}]
			return score * score
		}
		c.Context = n.Next*(at(-1)+at(1)) + n.Second*(at(-2)+at(2))
		if n.Long > 0 && c.Length > n.Long {
			c.Context *= float64(n.Long) / float64(c.Length)
		}
		c.Score += c.Context
		most = max(most, c.Score)
	}
	if most == 0 {
		return
	}
	for i := range candidates {
		c := &candidates[i]
		scale := best / most
		c.Vector, c.Keyword, c.Context = c.Vector*scale, c.Keyword*scale, c.Context*scale
		c.Score *= scale
	}
}
