package erase

// clearTemps removes the temporary files that killed programs left on this machine: copies of databases, and modules.
// Files that it can't remove are added to the leftovers.
func (a *Activities) clearTemps(s *search) error {
	if a.temps == nil {
		return nil
	}
	left, err := a.temps()
	for _, path := range left {
		s.add(&s.found.Left, "temporary files", path)
	}
	return err
}
