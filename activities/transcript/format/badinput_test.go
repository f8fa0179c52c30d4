package format

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"
)

const hello = `{"role":"user","content":"hello"}`

func TestParseBadInput(t *testing.T) {
	t.Parallel()
	turn := func(text string) string { return `{"role":"user","content":"` + text + `"}` }
	for _, tt := range []struct {
		name, in string
		opts     Options
		want     []string
		skipped  []schema.Skipped
	}{
		{
			name: "a broken line", in: lines(hello, `{"role":"user","content":`, turn("bye")),
			want: []string{"hello", "bye"}, skipped: []schema.Skipped{{Line: 2, Reason: reasonNotJSON}},
		},
		{
			name: "a broken first line", in: lines(`role":"user"}`, hello),
			want: []string{"hello"}, skipped: []schema.Skipped{{Line: 1, Reason: reasonNotJSON}},
		},
		{
			name: "an incomplete last line", in: hello + "\n" + `{"role":"user","content":"he`,
			want: []string{"hello"}, skipped: []schema.Skipped{{Line: 2, Reason: reasonPartial}},
		},
		{name: "no newline at the end", in: hello + "\n" + turn("bye"), want: []string{"hello", "bye"}},
		{
			name: "values that are no messages", in: lines(hello, `42`, `"x"`, `{"silly":1}`, `null`),
			want: []string{"hello"}, skipped: []schema.Skipped{
				{Line: 2, Reason: reasonNoRecord}, {Line: 3, Reason: reasonNoRecord}, {Line: 4, Reason: reasonNoRecord}, {Line: 5, Reason: reasonNoRecord},
			},
		},
		{
			name: "a NUL byte", in: lines(turn("a\x00b"), turn(`c\u0000d`)), want: []string{"ab", "cd"},
			skipped: []schema.Skipped{{Line: 1, Reason: reasonNUL}, {Line: 2, Reason: reasonNUL}},
		},
		{
			name: "a tail of NUL bytes", in: hello + "\n\x00\x00\x00", want: []string{"hello"},
			skipped: []schema.Skipped{{Line: 2, Reason: reasonNUL}},
		},
		{
			name: "invalid UTF-8", in: lines(turn("caf\xe9!"), hello), want: []string{"caf\uFFFD!", "hello"},
			skipped: []schema.Skipped{{Line: 1, Reason: reasonInvalidUTF8}},
		},
		{
			name: "half a surrogate pair", in: lines(turn(`a\ud83d`)), want: []string{"a\uFFFD"},
		},
		{name: "a byte order mark", in: "\xef\xbb\xbf" + lines(hello), want: []string{"hello"}},
		{name: "CRLF", in: hello + "\r\n" + turn(`a\r\nb`) + "\r\n", want: []string{"hello", "a\r\nb"}},
		{
			name: "a line above the limit", in: lines(hello, turn(strings.Repeat("x", 2000)), turn("bye")),
			opts: Options{MaxLine: 1000}, want: []string{"hello", "bye"}, skipped: []schema.Skipped{{Line: 2, Reason: reasonTooLong}},
		},
		{
			name: "an element above the limit", in: "[" + hello + ",\n" + turn(strings.Repeat("x", 2000)) + ",\n" + turn("bye") + "]",
			opts: Options{MaxLine: 1000}, want: []string{"hello", "bye"}, skipped: []schema.Skipped{{Line: 2, Reason: reasonTooLong}},
		},
		{
			name: "deep nesting", in: lines(hello, strings.Repeat("[", 1e6), `{"a":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+"}"),
			want: []string{"hello"}, skipped: []schema.Skipped{{Line: 2, Reason: reasonTooDeep}, {Line: 3, Reason: reasonTooDeep}},
		},
		{
			name: "a broken element", in: "[\n" + hello + ",\n{\"role\":},\n" + turn("bye") + "\n]\n",
			want: []string{"hello", "bye"}, skipped: []schema.Skipped{{Line: 3, Reason: reasonNotJSON}},
		},
		{
			name: "an array that breaks off", in: "[\n" + hello + ",\n{\"role\":\"us",
			want: []string{"hello"}, skipped: []schema.Skipped{{Line: 3, Reason: reasonPartial}, {Line: 3, Reason: reasonUnclosed}},
		},
		{
			name: "an object that breaks off", in: "{\n\"messages\": [\n" + hello + ",\n",
			skipped: []schema.Skipped{{Line: 1, Reason: reasonNotJSON}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
				s, err := parseOne(r, tt.opts)
				require.NoError(t, err)
				requireSound(t, []*Session{s})
				var texts []string
				for _, m := range s.Messages {
					texts = append(texts, m.Text)
				}
				require.Equal(t, tt.want, texts)
				require.Equal(t, tt.skipped, s.Skipped)
			}
		})
	}
}

func TestParseLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", 5<<20/16/sharedtest.Share())
	for _, in := range []string{
		lines(hello, `{"role":"user","content":"`+long+`"}`, hello),
		lines(`{"role":"user","content":"`+long+`"}`, hello),
		`[` + hello + `,{"role":"user","content":"` + long + `"}]`,
		`[{"role":"user","content":"` + long + `"}]`,
		lines(`{"type":"user","sessionId":"s","message":{"role":"user","content":"` + long + `"}}`),
	} {
		s, err := parseOne(strings.NewReader(in), Options{})
		require.NoError(t, err)
		require.Empty(t, s.Skipped)
		found := 0
		for _, m := range s.Messages {
			if m.Text == long {
				found++
			}
		}
		require.Equal(t, 1, found)
	}
}

func TestParseCompressed(t *testing.T) {
	t.Parallel()
	plain := strings.Repeat(hello+"\n", 2000)
	var zip, zst bytes.Buffer
	zw := gzip.NewWriter(&zip)
	_, _ = zw.Write([]byte(plain))
	require.NoError(t, zw.Close())
	enc, err := zstd.NewWriter(&zst)
	require.NoError(t, err)
	_, _ = enc.Write([]byte(plain))
	require.NoError(t, enc.Close())

	for name, data := range map[string][]byte{"gzip": zip.Bytes(), "zstd": zst.Bytes()} {
		s, err := parseOne(bytes.NewReader(data), Options{})
		require.NoError(t, err, name)
		require.Len(t, s.Messages, 2000, name)
	}

	s, err := parseOne(bytes.NewReader(zip.Bytes()[:zip.Len()-12]), Options{})
	require.NoError(t, err)
	require.Equal(t, reasonBrokenOff, s.Skipped[len(s.Skipped)-1].Reason)

	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("User: caf\u00e9\nAssistant: \u4f60\n")
	require.NoError(t, err)
	s, err = parseOne(strings.NewReader(utf16), Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"1 user/text: caf\u00e9", "2 assistant/text: \u4f60"}, render([]*Session{s}))
}

func TestParseTooLarge(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"User: " + strings.Repeat("x", 100), "{\n\"messages\":[" + hello + "]}\n" + strings.Repeat(" ", 100),
		"create table messages (a);" + strings.Repeat(" ", 100),
	} {
		_, err := Parse(t.Context(), strings.NewReader(in), Options{MaxDocument: 64})
		require.ErrorIs(t, err, ErrTooLarge)
	}
}

func TestParsePassesReadErrorsOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk is gone")
	for _, head := range []string{"", hello + "\n", "[" + hello, "User: a\n", "{\n"} {
		// More than the head, so that the error comes while the format reads.
		for _, pad := range []int{0, headSize} {
			r := io.MultiReader(strings.NewReader(head+strings.Repeat(" ", pad)), iotest.ErrReader(broken))
			_, err := Parse(t.Context(), r, Options{Format: "messages"})
			require.ErrorIs(t, err, broken, "%q with %d", head, pad)
		}
	}
}
