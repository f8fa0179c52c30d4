package facts

// The tests of package facts_test see these.
type ShownProfile = shownProfile
