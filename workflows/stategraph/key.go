package stategraph

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

type kind uint8

const (
	kindLast kind = iota
	kindReduce
	kindTopic
	kindEphemeral
	kindAny
)

func (k kind) String() string {
	return [...]string{"LastValue", "Reduce", "Topic", "Ephemeral", "Any"}[k]
}

// channel is the type-erased description of a key. It is immutable once its handle has been returned, so that schemas
// and graphs may share it.
type channel struct {
	name       string
	kind       kind
	value      reflect.Type
	write      reflect.Type
	def        any
	hasDef     bool
	clone      func(any) any // nil when values need no copy
	cloneWrite func(any) any // the same for writes
	fold       func(acc, write any) (any, error)
	verbatim   bool // the first write of an unset key is its value
	unguarded  bool
	accumulate bool
	unique     func(item any) string
	items      func(write any) []any // a Topic's write as single-item writes
	length     func(value any) int
	decode     func(data []byte) (any, error)
}

func (ch *channel) copyOf(v any) any {
	if ch.clone == nil || v == nil {
		return v
	}
	return ch.clone(v)
}

func (ch *channel) copyWrite(v any) any {
	if ch.cloneWrite == nil || v == nil {
		return v
	}
	return ch.cloneWrite(v)
}

// AnyKey is a key of any type. Only the keys of this package implement it.
type AnyKey interface {
	Name() string
	spec() *channel
}

// Key is the read side of a typed state key.
type Key[T any] struct{ ch *channel }

// Name returns the name of the key in results, errors and drawings.
func (k Key[T]) Name() string { return k.ch.name }

func (k Key[T]) spec() *channel { return k.ch }

// Get returns a copy of the key's value. If nothing was written, it returns the default, or the zero T without one.
func (k Key[T]) Get(s State) T {
	v, _ := k.Lookup(s)
	return v
}

// Lookup returns a copy of the key's value and whether there is one. A default counts as a value.
func (k Key[T]) Lookup(s State) (T, bool) {
	v, ok := s.load(k.ch)
	if !ok {
		var zero T
		return zero, false
	}
	t, _ := k.ch.copyOf(v).(T) // a nil interface fails the assertion: zero T is that nil
	return t, true
}

// Value is a key that holds one written value: a LastValue, Any or Ephemeral key.
type Value[T any] struct{ Key[T] }

// Set returns a write of v. The value is copied immediately, so the caller may continue to use v.
func (k Value[T]) Set(v T) Write { return Write{ch: k.ch, val: k.ch.copyOf(v)} }

// Default returns the key with a value to use while nothing is written.
func (k Value[T]) Default(v T) Value[T] {
	return Value[T]{Key[T]{k.ch.with(func(c *channel) { c.def, c.hasDef = c.copyOf(v), true })}}
}

// Copy returns the key with another function to copy values. If it is nil, values are shared.
func (k Value[T]) Copy(clone func(T) T) Value[T] {
	return Value[T]{Key[T]{k.ch.with(func(c *channel) { c.clone, c.cloneWrite = erase(clone), erase(clone) })}}
}

// Reducer is a key that folds writes of type U into a value of type T.
type Reducer[T, U any] struct{ Key[T] }

// Add returns a write of u, which the key's operator folds into the value.
func (k Reducer[T, U]) Add(u U) Write { return Write{ch: k.ch, val: k.ch.copyWrite(u)} }

// Overwrite returns a write that replaces the value without using the operator. Other writes in the same superstep
// are dropped. A second Overwrite is an error.
func (k Reducer[T, U]) Overwrite(v T) Write {
	return Write{ch: k.ch, val: k.ch.copyOf(v), overwrite: true}
}

// Copy returns the key with other functions to copy values and writes. If they are nil, both are shared, and the
// operator must not extend its arguments.
func (k Reducer[T, U]) Copy(value func(T) T, write func(U) U) Reducer[T, U] {
	return Reducer[T, U]{Key[T]{k.ch.with(func(c *channel) {
		c.clone, c.cloneWrite = erase(value), erase(write)
	})}}
}

// List is the key of a Topic: the items published in one superstep or, with Accumulate, in all of them.
type List[T any] struct{ Key[[]T] }

// Add returns a write that publishes the items in order.
func (k List[T]) Add(items ...T) Write {
	return Write{ch: k.ch, val: k.ch.copyOf(append([]T(nil), items...))}
}

// Accumulate returns the key with its items kept instead of emptied after the next superstep.
func (k List[T]) Accumulate() List[T] {
	return List[T]{Key[[]T]{k.ch.with(func(c *channel) { c.accumulate = true })}}
}

// UniqueBy returns the key with duplicates dropped: an item is ignored if one with the same id was published before
// in the same run.
func (k List[T]) UniqueBy(id func(T) string) List[T] {
	return List[T]{Key[[]T]{k.ch.with(func(c *channel) {
		c.unique = func(item any) string {
			t, _ := item.([]T)
			return id(t[0])
		}
	})}}
}

// LastValue returns a key that accepts at most one write per superstep. Two writes are ErrInvalidUpdate, even if they
// are equal.
func LastValue[T any](name string) Value[T] { return value[T](name, kindLast) }

// Any returns a key that keeps the last write in node order. A superstep that does not write it empties it.
func Any[T any](name string) Value[T] { return value[T](name, kindAny) }

// Ephemeral returns a key that is visible only in the superstep after its write. Two writes in one superstep are
// ErrInvalidUpdate.
func Ephemeral[T any](name string) Value[T] { return value[T](name, kindEphemeral) }

// EphemeralUnguarded returns an Ephemeral key that keeps the last of several writes.
func EphemeralUnguarded[T any](name string) Value[T] {
	k := value[T](name, kindEphemeral)
	k.ch.unguarded = true
	return k
}

// Reduce returns a key that folds writes into its value by op, starting with initial. op must be pure. It may return
// a slice that extends acc, as append does, but must not change the elements of acc.
func Reduce[T any](name string, op func(acc, v T) T, initial T) Reducer[T, T] {
	return Fold(name, func(acc, v T) (T, error) { return op(acc, v), nil }, initial)
}

// ReduceFirst is like Reduce without an initial value. The first write is stored as it is, without a call of op.
func ReduceFirst[T any](name string, op func(acc, v T) (T, error)) Reducer[T, T] {
	var zero T
	k := Fold(name, op, zero)
	k.ch.hasDef, k.ch.def, k.ch.verbatim = false, nil, true
	return k
}

// Fold is like Reduce with an operator that may fail, and with writes whose type may differ from the value's. An
// error fails the run as a ReducerError.
func Fold[T, U any](name string, op func(acc T, v U) (T, error), initial T) Reducer[T, U] {
	ch := newChannel[T, U](name, kindReduce)
	ch.def, ch.hasDef = ch.copyOf(initial), true
	ch.fold = func(acc, write any) (any, error) {
		a, _ := acc.(T)
		u, _ := write.(U)
		return op(a, u)
	}
	return Reducer[T, U]{Key[T]{ch}}
}

// Topic returns a key that lists the items published to it in the last superstep.
func Topic[T any](name string) List[T] {
	ch := newChannel[[]T, []T](name, kindTopic)
	ch.fold = func(acc, write any) (any, error) {
		a, _ := acc.([]T)
		w, _ := write.([]T)
		return append(a, w...), nil
	}
	ch.items = func(write any) []any {
		w, _ := write.([]T)
		items := make([]any, len(w))
		for i := range w {
			items[i] = w[i : i+1 : i+1]
		}
		return items
	}
	ch.length = func(value any) int {
		a, _ := value.([]T)
		return len(a)
	}
	return List[T]{Key[[]T]{ch}}
}

func value[T any](name string, k kind) Value[T] {
	return Value[T]{Key[T]{newChannel[T, T](name, k)}}
}

func newChannel[T, U any](name string, k kind) *channel {
	return &channel{
		name: name, kind: k,
		value: reflect.TypeFor[T](), write: reflect.TypeFor[U](),
		clone: erase(clonerOf[T]()), cloneWrite: erase(clonerOf[U]()),
		decode: func(data []byte) (any, error) {
			var u U
			if err := json.Unmarshal(data, &u); err != nil {
				return nil, err
			}
			return u, nil
		},
	}
}

func (ch *channel) with(change func(*channel)) *channel {
	c := *ch
	change(&c)
	return &c
}

func erase[T any](clone func(T) T) func(any) any {
	if clone == nil {
		return nil
	}
	return func(v any) any {
		t, ok := v.(T)
		if !ok {
			return v
		}
		return clone(t)
	}
}

// Schema is the set of keys of a graph's state.
type Schema struct {
	keys   []*channel
	index  map[*channel]int
	byName map[string]int
	errs   []error
}

// Root returns the schema with the keys. Compile reports two keys with the same name.
func Root(keys ...AnyKey) *Schema {
	s := &Schema{index: make(map[*channel]int, len(keys)), byName: make(map[string]int, len(keys))}
	for _, k := range keys {
		ch := k.spec()
		switch _, taken := s.byName[ch.name]; {
		case ch.name == "":
			s.errs = append(s.errs, &BuildError{Reason: fmt.Sprintf("a %v key has no name", ch.kind)})
			continue
		case taken:
			s.errs = append(s.errs, &BuildError{Key: ch.name, Reason: "two keys have this name"})
			continue
		}
		s.index[ch], s.byName[ch.name] = len(s.keys), len(s.keys)
		s.keys = append(s.keys, ch)
	}
	return s
}

// Decode converts a JSON object of key names and values into an Update. Use it for input from outside the program. If
// the JSON is not an object, a key is unknown or a value has the wrong type, the error is ErrInvalidUpdate.
func (s *Schema) Decode(data []byte) (Update, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return nil, &InvalidUpdateError{Reason: "expected a JSON object of keys and values"}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if _, ok := s.byName[name]; !ok {
			return nil, &InvalidUpdateError{Channel: name, Reason: "the schema has no such key"}
		}
	}
	u := make(Update, 0, len(fields))
	for _, ch := range s.keys {
		raw, ok := fields[ch.name]
		if !ok {
			continue
		}
		v, err := ch.decode(raw)
		if err != nil {
			return nil, &InvalidUpdateError{Channel: ch.name, Reason: err.Error()}
		}
		u = append(u, Write{ch: ch, val: v})
	}
	return u, nil
}
