package stategraph

import (
	"reflect"
	"time"
)

// clonerOf returns a function that copies a T so that the copy shares nothing with the original, or nil if plain
// assignment does that already. If T has a method Clone() T, it is used. Slices, maps, pointers, arrays and exported
// struct fields are copied deeply. Functions, channels, values in unexported fields, and pointers to structs with
// unexported fields are shared, because only their own package can copy them. Values must not contain cycles.
func clonerOf[T any]() func(T) T {
	var zero T
	if _, ok := any(zero).(interface{ Clone() T }); ok {
		return func(v T) T { return any(v).(interface{ Clone() T }).Clone() }
	}
	c := newClonerSet().of(reflect.TypeFor[T]())
	if c == nil {
		return nil
	}
	return func(v T) T {
		out := c(reflect.ValueOf(&v).Elem())
		if out.Kind() == reflect.Interface && out.IsNil() {
			return v
		}
		t, _ := out.Interface().(T)
		return t
	}
}

type cloner func(reflect.Value) reflect.Value

// clonerSet remembers the cloners it builds, so that a recursive type refers to its own unfinished entry.
type clonerSet struct{ made map[reflect.Type]*cloner }

func newClonerSet() *clonerSet { return &clonerSet{made: map[reflect.Type]*cloner{}} }

var timeType = reflect.TypeFor[time.Time]()

func (s *clonerSet) of(t reflect.Type) cloner {
	if plain(t) {
		return nil
	}
	if p, ok := s.made[t]; ok {
		return func(v reflect.Value) reflect.Value { return (*p)(v) }
	}
	p := new(cloner)
	s.made[t] = p
	switch t.Kind() {
	case reflect.Slice:
		*p = s.slice(t)
	case reflect.Map:
		*p = s.mapping(t)
	case reflect.Pointer:
		*p = s.pointer(t)
	case reflect.Struct:
		*p = s.structure(t)
	case reflect.Array:
		*p = s.array(t)
	case reflect.Interface:
		*p = s.dynamic(t)
	default: // functions and channels
		*p = func(v reflect.Value) reflect.Value { return v }
	}
	return *p
}

// plain reports whether assigning a t already makes a full copy.
func plain(t reflect.Type) bool {
	if t == timeType || (t.Kind() == reflect.Pointer && opaque(t.Elem())) {
		return true
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return false
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.IsExported() && !plain(f.Type) {
				return false
			}
		}
	}
	return true
}

// opaque reports whether t is a struct with unexported fields.
func opaque(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			return true
		}
	}
	return false
}

func (s *clonerSet) slice(t reflect.Type) cloner {
	elem := s.of(t.Elem())
	return func(v reflect.Value) reflect.Value {
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(t, v.Len(), v.Len())
		reflect.Copy(out, v)
		if elem != nil {
			for i := range v.Len() {
				out.Index(i).Set(elem(v.Index(i)))
			}
		}
		return out
	}
}

func (s *clonerSet) array(t reflect.Type) cloner {
	elem := s.of(t.Elem())
	return func(v reflect.Value) reflect.Value {
		out := reflect.New(t).Elem()
		for i := range v.Len() {
			out.Index(i).Set(elem(v.Index(i)))
		}
		return out
	}
}

func (s *clonerSet) mapping(t reflect.Type) cloner {
	elem := s.of(t.Elem())
	return func(v reflect.Value) reflect.Value {
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMapWithSize(t, v.Len())
		for it := v.MapRange(); it.Next(); {
			e := it.Value()
			if elem != nil {
				e = elem(e)
			}
			out.SetMapIndex(it.Key(), e)
		}
		return out
	}
}

func (s *clonerSet) pointer(t reflect.Type) cloner {
	elem := s.of(t.Elem())
	return func(v reflect.Value) reflect.Value {
		if v.IsNil() {
			return v
		}
		out := reflect.New(t.Elem())
		if elem == nil {
			out.Elem().Set(v.Elem())
		} else {
			out.Elem().Set(elem(v.Elem()))
		}
		return out
	}
}

func (s *clonerSet) structure(t reflect.Type) cloner {
	type field struct {
		index int
		clone cloner
	}
	var fields []field
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			if c := s.of(f.Type); c != nil {
				fields = append(fields, field{i, c})
			}
		}
	}
	return func(v reflect.Value) reflect.Value {
		out := reflect.New(t).Elem()
		out.Set(v)
		for _, f := range fields {
			out.Field(f.index).Set(f.clone(v.Field(f.index)))
		}
		return out
	}
}

// dynamic copies the value in an interface. It finds the cloner at each copy, because the type is known only then.
func (s *clonerSet) dynamic(t reflect.Type) cloner {
	return func(v reflect.Value) reflect.Value {
		if v.IsNil() {
			return v
		}
		held := v.Elem().Type()
		if plain(held) {
			return v
		}
		out := reflect.New(t).Elem()
		out.Set(newClonerSet().of(held)(v.Elem()))
		return out
	}
}
