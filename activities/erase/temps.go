package erase

// clearTemps removes the temporary files that killed programs have left on this machine: copies of databases, and modules. Those
// that it can't remove are left of the erasure.
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
