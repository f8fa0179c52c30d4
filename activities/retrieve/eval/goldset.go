package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Bounds of a gold set.
const (
	MaxLine      = 1 << 20 // bytes
	MaxQuestions = 100_000
)

// ErrInput is wrapped by every error about the content of a file. The error names the file, the line and the field.
var ErrInput = errors.New("invalid input")

// inputError is a mistake in a file.
type inputError struct{ error }

func (inputError) Is(target error) bool { return target == ErrInput }
func (e inputError) Unwrap() error      { return e.error }

// invalid returns an error about a line of a file, or about the whole file if line is 0.
func invalid(name string, line int, err error) error {
	if line == 0 {
		return inputError{fmt.Errorf("%s: %w", name, err)}
	}
	return inputError{fmt.Errorf("%s: line %d: %w", name, line, err)}
}

// ReadGoldSet reads a gold set. name is that of the file, for errors; these wrap [ErrInput] unless the reader fails.
func ReadGoldSet(r io.Reader, name string) ([]Question, error) {
	var questions []Question
	lines := map[string]int{}
	err := readLines(r, name, MaxLine, func(line int, data []byte) error {
		if len(questions) == MaxQuestions {
			return fmt.Errorf("there are more than %d questions: split the file", MaxQuestions)
		}
		var w wireQuestion
		if err := decodeStrict(data, &w); err != nil {
			return err
		}
		q, err := w.question()
		if err != nil {
			return err
		}
		if first, twice := lines[q.ID]; twice {
			return wrong("id", "%q is that of line %d too: give each question its own", q.ID, first)
		}
		lines[q.ID] = line
		questions = append(questions, q)
		return nil
	})
	if err == nil && len(questions) == 0 {
		err = invalid(name, 0, errors.New("there is no question in it: want one JSON object a line"))
	}
	if err != nil {
		return nil, err
	}
	return questions, nil
}

// WriteGoldSet writes the questions in the form that [ReadGoldSet] reads.
func WriteGoldSet(w io.Writer, questions []Question) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for _, q := range questions {
		if err := q.validate(); err != nil {
			return fmt.Errorf("question %q: %w", q.ID, err)
		}
		if err := e.Encode(q.wire()); err != nil {
			return fmt.Errorf("write question %q: %w", q.ID, err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write gold set: %w", err)
	}
	return nil
}

// readLines calls fn with each line that is not blank, without the spaces around it. An error of fn is one of the line.
func readLines(r io.Reader, name string, limit int, fn func(line int, data []byte) error) error {
	b := bufio.NewReaderSize(r, 64<<10)
	var buf []byte
	for line := 1; ; line++ {
		buf = buf[:0]
		var err error
		for {
			var piece []byte
			piece, err = b.ReadSlice('\n')
			buf = append(buf, piece...)
			if len(bytes.TrimRight(buf, "\r\n")) > limit {
				return invalid(name, line, fmt.Errorf("is longer than %d KiB: a line holds one object; shorten or split it", limit>>10))
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return fmt.Errorf("read %s: line %d: %w", name, line, err)
		}
		data := buf
		if line == 1 {
			data = bytes.TrimPrefix(data, []byte("\ufeff"))
		}
		if data = bytes.TrimSpace(data); len(data) > 0 {
			if !utf8.Valid(data) {
				return invalid(name, line, errors.New("is not UTF-8: save the file as UTF-8"))
			}
			if err := fn(line, data); err != nil {
				return invalid(name, line, err)
			}
		}
		if ended {
			return nil
		}
	}
}

// decodeStrict reads one JSON object that has no unknown field.
func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return jsonError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the JSON object: put each on a line of its own")
	}
	return nil
}

// jsonError is an error of the decoder in plain words.
func jsonError(err error) error {
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if mismatch.Field == "" {
			return fmt.Errorf("is a JSON %s: want an object", mismatch.Value)
		}
		return wrong(mismatch.Field, "is a JSON %s: want %s", mismatch.Value, wanted(mismatch.Type.String()))
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return wrong(strings.Trim(field, `"`), "is no known field: leave it out or correct its name")
	}
	return fmt.Errorf("is not a JSON object: %w", err)
}

func wanted(goType string) string {
	switch strings.TrimPrefix(goType, "*") {
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	case "int":
		return "a whole number"
	case "float64":
		return "a number"
	}
	if strings.HasPrefix(goType, "[]") {
		return "a list"
	}
	return "an object"
}
