package pair

// rivals adds the slots of values that exclude the others of their group: tabs or spaces, dark or light. A project uses
// one package manager and many libraries, so only the lexicon knows which values exclude each other.
func (s *statement) rivals(add func(slot)) {
	for k, w := range s.words {
		if w.group != "" && !w.quoted && s.takes(k) {
			add(slot{kind: byValue, group: w.group, start: k, end: k + 1})
		}
	}
}

// takes reports whether the statement says that its subject has, uses or prefers the value at k.
func (s *statement) takes(k int) bool {
	w, next := s.words[k], word{flags: preposition}
	if k+1 < len(s.words) {
		next = s.words[k+1]
	}
	if s.event && !s.any(choice|decided) || next.group == w.group {
		return false
	}
	verb := k - 1
	if !s.language.articles() && k+1 < len(s.words) { // The verb may follow its object.
		verb = k + 1
	}
	switch {
	case k > 0 && s.words[k-1].has(choice), verb > k && s.words[verb].has(choice):
		return true
	case w.taste:
		return false
	case k > 0 && w.linked:
		return s.words[0].definite || s.person() || !s.language.articles()
	case verb > k && s.words[verb].has(use):
		return k > 0 && (s.thing() || s.words[0].has(team))
	case k > 0 && s.words[k-1].has(use):
		ends := next.has(preposition|on) || k+2 == len(s.words) || s.words[k+2].has(preposition)
		return ends && (k == 1 || s.thing() && !s.words[0].has(user) || s.words[0].has(team))
	}
	return false
}
