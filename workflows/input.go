package workflows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
)

// strict makes a workflow check its input, which people also type into Temporal's UI. Input that can't be decoded, or
// that has an unknown field, fails the run at once with the reason. The SDK ignores unknown fields, and its own errors
// have no type.
func strict[In, Out any](run func(workflow.Context, In) (Out, error)) func(workflow.Context, converter.RawValue) (Out, error) {
	return func(ctx workflow.Context, raw converter.RawValue) (Out, error) {
		in, err := decodeInput[In](raw)
		if err != nil {
			var none Out
			message := fmt.Sprintf("read the input of %s: %v", workflow.GetInfo(ctx).WorkflowType.Name, err)
			return none, temporal.NewNonRetryableApplicationError(message, schema.ErrorInvalidInput, nil)
		}
		return run(ctx, in)
	}
}

// withoutResult is [strict] for a workflow without a result.
func withoutResult[In any](run func(workflow.Context, In) error) func(workflow.Context, converter.RawValue) error {
	decoded := strict(func(ctx workflow.Context, in In) (struct{}, error) { return struct{}{}, run(ctx, in) })
	return func(ctx workflow.Context, raw converter.RawValue) error {
		_, err := decoded(ctx, raw)
		return err
	}
}

// decodeInput decodes an input. A missing input is the zero value: the workflow validates it.
func decodeInput[In any](raw converter.RawValue) (in In, err error) {
	payload := raw.Payload()
	switch encoding := string(payload.GetMetadata()[converter.MetadataEncoding]); encoding {
	case "", converter.MetadataEncodingNil:
		return in, nil
	case converter.MetadataEncodingJSON:
		return in, decodeStrictly(payload.GetData(), &in)
	default:
		return in, fmt.Errorf("it is encoded as %q, want %q", encoding, converter.MetadataEncodingJSON)
	}
}

// decodeStrictly decodes one JSON object into the target, a pointer to a struct. Unknown fields are errors.
func decodeStrictly(data []byte, target any) error {
	fields := reflect.TypeOf(target).Elem()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(target)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Errorf("it is a JSON %s, want an object with %s", wrong.Value, strings.Join(namesOf(fields), ", "))
	case errors.As(err, &wrong):
		return fmt.Errorf("field %q is a JSON %s, want a %s", wrong.Field, wrong.Value, kindOf(wrong.Type))
	case err != nil:
		if path, known := unknownField(data, fields, ""); path != "" {
			return fmt.Errorf("there is no field %q, only %s", path, strings.Join(known, ", "))
		}
		if path, given := wrongTime(data, fields, ""); path != "" {
			return fmt.Errorf("field %q is %s, want a time like %q", path, given, "2026-11-01T00:00:00Z")
		}
		return fmt.Errorf("it is not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after its JSON object")
	}
	return nil
}

// unknownField returns the path of the first name in the JSON without a field in the type, and the known names there.
func unknownField(data []byte, t reflect.Type, path string) (unknown string, known []string) {
	switch t.Kind() {
	case reflect.Pointer:
		return unknownField(data, t.Elem(), path)
	case reflect.Slice:
		var items []json.RawMessage
		_ = json.Unmarshal(data, &items)
		for i, item := range items {
			if unknown, known := unknownField(item, t.Elem(), fmt.Sprintf("%s[%d]", strings.TrimSuffix(path, "."), i)+"."); unknown != "" {
				return unknown, known
			}
		}
	case reflect.Struct:
		var object map[string]json.RawMessage
		_ = json.Unmarshal(data, &object)
		names := make([]string, 0, len(object))
		for name := range object {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			field, ok := fieldNamed(t, name)
			if !ok {
				return path + name, namesOf(t)
			}
			if unknown, known := unknownField(object[name], field.Type, path+name+"."); unknown != "" {
				return unknown, known
			}
		}
	}
	return "", nil
}

// wrongTime returns the path of the first field in the JSON that should be a time but is not, with its value.
func wrongTime(data []byte, t reflect.Type, path string) (wrong, given string) {
	var object map[string]json.RawMessage
	switch {
	case t == reflect.TypeFor[time.Time]():
		if json.Unmarshal(data, new(time.Time)) != nil {
			return path, string(data)
		}
	case t.Kind() == reflect.Pointer:
		return wrongTime(data, t.Elem(), path)
	case t.Kind() == reflect.Struct && json.Unmarshal(data, &object) == nil:
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if field, ok := fieldNamed(t, name); ok {
				if wrong, given := wrongTime(object[name], field.Type, strings.TrimPrefix(path+"."+name, ".")); wrong != "" {
					return wrong, given
				}
			}
		}
	}
	return "", ""
}

// fieldNamed finds a field like encoding/json, which ignores case.
func fieldNamed(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		if jsonName(f) != "" && strings.EqualFold(jsonName(f), name) {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func namesOf(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name := jsonName(f); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// jsonName returns the field's name in JSON, or "" if it has none of its own.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case !f.IsExported(), name == "-", f.Anonymous && name == "":
		return ""
	case name == "":
		return f.Name
	default:
		return name
	}
}

// kindOf returns a type's name in JSON.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Slice:
		return "list"
	case reflect.Struct, reflect.Map:
		return "object"
	default:
		return "number"
	}
}
