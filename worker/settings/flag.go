package settings

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// FlagError returns an error that explains in words why the value of a flag is invalid. Other errors are returned as
// they are.
func FlagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	flag, value := invalid.GetFlag(), invalid.GetValue()
	want := ""
	switch flag.Value.Type() {
	case "int":
		want = "a whole number"
	case "float64":
		want = "a number"
	case "bool":
		want = "true or false"
	case "duration":
		want = "a duration like 30s or 2m"
	case valueType, "func":
		return fmt.Errorf("--%s %q: %w", flag.Name, value, invalid.Unwrap())
	default:
		return err
	}
	if errors.Is(err, strconv.ErrRange) {
		want += " that is not as large"
	}
	return fmt.Errorf("--%s %q: want %s", flag.Name, value, want)
}
