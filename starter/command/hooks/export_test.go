package hooks

// The tests of package hooks_test see these.
type ChangedHooks = changedHooks
