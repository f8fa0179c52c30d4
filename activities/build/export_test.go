package build

// Command is for tests.
var Command = command
