package settings

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Setting is one setting of a program. Its flag and its key in the file have its name, and [Variable] derives its variable.
type Setting struct {
	Name string
	// Into points to where the value goes: a string, bool, int, float64, [time.Duration] or []string. Or it is a
	// func(string) error, which checks the value and stores it.
	Into any
	// Default is the value without a source: of the type that Into points to, or a string for a func. Default: the zero value.
	Default any
	// Absent describes the default in Markdown where Default does not say it, such as "the provider's".
	Absent string
	// Usage documents the setting, in Markdown. The help of a program shows it as plain text; the topic shows it with More behind it.
	Usage, More string
	Readers     Readers
	// Secret is true if the value holds a secret outside the password and the query of a URL.
	Secret bool
}

// Readers are the programs that have a setting.
type Readers int

// The values of [Readers].
const (
	Programs Readers = iota // the worker and the starter
	Worker
	Hooks // hooks of agents, too
)

func (r Readers) String() string {
	return [...]string{Programs: "worker, starter", Worker: "worker", Hooks: "worker, starter, hooks"}[r]
}

// Add adds the flags of the settings, in their order, and stores the defaults.
func Add(f *pflag.FlagSet, list []Setting) {
	for _, s := range list {
		switch into := s.Into.(type) {
		case *string:
			f.StringVar(into, s.Name, or[string](s.Default), s.usage())
		case *bool:
			f.BoolVar(into, s.Name, or[bool](s.Default), s.usage())
		case *int:
			f.IntVar(into, s.Name, or[int](s.Default), s.usage())
		case *float64:
			f.Float64Var(into, s.Name, or[float64](s.Default), s.usage())
		case *time.Duration:
			f.DurationVar(into, s.Name, or[time.Duration](s.Default), s.usage())
		case *[]string:
			f.StringArrayVar(into, s.Name, nil, s.usage())
		case func(string) error:
			v := &value{set: into}
			if s.Default != nil {
				if err := v.Set(or[string](s.Default)); err != nil {
					panic(fmt.Sprintf("default of setting %s: %v", s.Name, err))
				}
			}
			f.Var(v, s.Name, s.usage())
		default:
			panic(fmt.Sprintf("setting %s has a %T", s.Name, into))
		}
	}
}

// or returns v, or the zero value of its type for nil.
func or[T any](v any) (t T) {
	if v != nil {
		t = v.(T)
	}
	return t
}

// value is a flag that is checked by a func.
type value struct {
	set  func(string) error
	text string
}

const valueType = "value"

const (
	// maxReplicas is more than clusters have servers.
	maxReplicas = 1000
	// leastUsageDays is six half-lives of the heat of facts, which is a sum over usage.
	leastUsageDays, mostUsageDays = 180, 3650
)

// count stores a whole number from the least to the most.
func count(into *int, least, most int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return fmt.Errorf("want a whole number from %d to %d", least, most)
		}
		*into = n
		return nil
	}
}

func usageDays(into *int) func(string) error {
	days := count(into, leastUsageDays, mostUsageDays)
	return func(text string) error {
		if text == "0" {
			*into = 0
			return nil
		}
		if err := days(text); err != nil {
			return fmt.Errorf("%w, or 0 for never", err)
		}
		return nil
	}
}

func (v *value) String() string { return v.text }
func (v *value) Type() string   { return valueType }

func (v *value) Set(text string) error {
	if err := v.set(text); err != nil {
		return err
	}
	v.text = text
	return nil
}

// usage is the text of the flag. pflag adds the Default.
func (s Setting) usage() string {
	text := plain(s.Usage)
	if s.Default != nil || s.Absent == "" {
		return text
	}
	at := " "
	if len(text)-strings.LastIndexByte(text, '\n') > 60 {
		at = "\n"
	}
	return text + at + "(default: " + plain(s.Absent) + ")"
}

// plain returns Markdown without the signs of code and of its one link.
func plain(markdown string) string {
	text := strings.ReplaceAll(markdown, "`", "")
	if before, rest, is := strings.Cut(text, "["); is {
		name, rest, _ := strings.Cut(rest, "](")
		_, after, _ := strings.Cut(rest, ")")
		text = before + name + after
	}
	return text
}

// Row is the line of the topic's table: setting, default, programs and meaning, in Markdown.
func (s Setting) Row() string {
	text := s.Absent
	if _, is := s.Into.(*bool); is {
		text = cmp.Or(text, "off")
	}
	if text == "" && s.Default != nil {
		text = "`" + fmt.Sprint(s.Default) + "`"
	}
	return fmt.Sprintf("| `--%s` | %s | %s | %s |\n", s.Name, cmp.Or(text, "none"), s.Readers, strings.ReplaceAll(s.Usage, "\n", " ")+s.More)
}
