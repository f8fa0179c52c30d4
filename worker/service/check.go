package service

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// orElse replaces a 0, and returns the error.
func orElse[T comparable](err error, into *T, other T) error {
	*into = cmp.Or(*into, other)
	return err
}

// number stores a number within the bounds.
func number(into *float64, least, most float64) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n >= least && n <= most) {
			return fmt.Errorf("want a number from %v to %v", least, most)
		}
		*into = n
		return nil
	}
}

// oneOf stores one of the values.
func oneOf[T ~string](into *T, values ...T) func(string) error {
	return func(text string) error {
		if !slices.Contains(values, T(text)) {
			return fmt.Errorf("want %s", strings.ReplaceAll(strings.Trim(fmt.Sprint(values), "[]"), " ", " or "))
		}
		*into = T(text)
		return nil
	}
}

// leastIdle is the least time without an event after which a project is idle.
const leastIdle = time.Minute

// idleTime stores a time of at least [leastIdle], or 0.
func idleTime(into *time.Duration) func(string) error {
	return func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d != 0 && d < leastIdle {
			return fmt.Errorf("want a time of %s or longer, such as 720h, or 0 for never", leastIdle)
		}
		*into = d
		return nil
	}
}

// count stores a whole number that is not less than the least one.
func count(into *int, least int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			return fmt.Errorf("want a whole number from %d on", least)
		}
		*into = n
		return nil
	}
}
