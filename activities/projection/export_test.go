package projection

// LoseOffsets simulates the end of a program before it has saved its projections' offsets. It is for the tests against a
// real server, which are in a package of their own: the server's package imports this one.
func LoseOffsets(s *Store) {
	s.offsets.mu.Lock()
	defer s.offsets.mu.Unlock()
	clear(s.offsets.pending)
}
