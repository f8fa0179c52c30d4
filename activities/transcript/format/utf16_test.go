package format

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"
)

var conversations = map[string]struct {
	text string
	want []string
}{
	"English": {"User: caf\u00e9\nAssistant: ok\n", []string{"1 user/text: caf\u00e9", "2 assistant/text: ok"}},
	"Korean": {"사용자: 이벤트 로그는 클릭하우스에 저장하기로 결정했습니다\n어시스턴트: 알겠습니다\n", []string{
		"1 user/text: 이벤트 로그는 클릭하우스에 저장하기로 결정했습니다", "2 assistant/text: 알겠습니다"}},
	"Chinese": {"用户：" + strings.Repeat("我们决定一起使用这个数据库", 40) + "\n助手：好的一\n", []string{
		"1 user/text: " + strings.Repeat("我们决定一起使用这个数据库", 40), "2 assistant/text: 好的一"}},
	"Japanese and emoji": {"ユーザー：決めました🎉\nアシスタント：はい\n", []string{"1 user/text: 決めました🎉", "2 assistant/text: はい"}},
	"Hindi":              {"User: क्या हाल है\nAssistant: ठीक\n", []string{"1 user/text: क्या हाल है", "2 assistant/text: ठीक"}},
	"Russian":            {"Пользователь: Да\nАссистент: Нет\n", []string{"1 user/text: Да", "2 assistant/text: Нет"}},
	"JSON": {`{"role":"user","content":"` + strings.Repeat("데이터", 300) + `"}` + "\r\n" + `{"role":"assistant","content":"好"}` + "\r\n", []string{
		"1 user/text: " + strings.Repeat("데이터", 300), "2 assistant/text: 好"}},
}

// Text of UTF-16 is read in either byte order, with a byte order mark and without.
func TestParseUTF16(t *testing.T) {
	t.Parallel()
	for name, c := range conversations {
		for _, order := range []unicode.Endianness{unicode.BigEndian, unicode.LittleEndian} {
			for _, mark := range []unicode.BOMPolicy{unicode.UseBOM, unicode.IgnoreBOM} {
				in, err := unicode.UTF16(order, mark).NewEncoder().String(c.text)
				require.NoError(t, err)
				s, err := parseOne(strings.NewReader(in), Options{})
				require.NoError(t, err, name)
				require.Equal(t, c.want, render([]*Session{s}), "%s, order %v, mark %v", name, order, mark)
				require.Empty(t, s.Skipped)
			}
		}
	}
}

// Other bytes are not taken for UTF-16: UTF-8 with NUL bytes in it, other encodings with some, and data.
func TestParseNoUTF16(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"UTF-8":                  conversations["Korean"].text,
		"a NUL byte":             `{"role":"user","content":"a` + "\x00" + `b 데이터"}`,
		"a tail of NUL bytes":    hello + "\n" + strings.Repeat("\x00", 4096),
		"Latin-1 and a NUL byte": "User: caf\xe9 \x00\nAssistant: caf\xe9\n",
		"EUC-KR and a NUL byte":  "User: \xc0\xcc\xba\xa5\xc6\xae\x00\nAssistant: \xb3\xd7\n",
		"a cut character":        "User: 데이\x00" + "터"[:2],
		"a database":             string(sqliteMagic) + strings.Repeat("\x00a", 100),
		"UTF-32":                 "U\x00\x00\x00s\x00\x00\x00e\x00\x00\x00r\x00\x00\x00",
		"NUL bytes":              strings.Repeat("\x00", 100),
		"nothing":                "",
	} {
		decoded, _, err := decode(strings.NewReader(in), []byte(in))
		require.NoError(t, err)
		require.Nil(t, decoded, name)
	}
	s, err := parseOne(strings.NewReader("User: caf\xe9 \x00\nAssistant: caf\xe9\n"), Options{Format: "text"})
	require.NoError(t, err)
	require.Equal(t, []string{"1 user/text: caf\uFFFD ", "2 assistant/text: caf\uFFFD"}, render([]*Session{s}))
}

// No valid UTF-8 without NUL bytes is taken for UTF-16.
func TestUTF8IsNoUTF16(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(rapid.String().Draw(t, "text"), "\x00", "")
		if order, ok := utf16Order([]byte(text)); ok {
			t.Fatalf("%q is taken for UTF-16 %v", text, order)
		}
	})
}
