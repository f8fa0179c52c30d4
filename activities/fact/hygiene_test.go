package fact

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/llm"
	"axiommind/activities/text"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
)

func TestLasting(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		content string
		quotes  []string
		want    string
	}{
		{"Likes tea", []string{"I like tea."}, ""},
		{"ok", []string{"ok"}, schema.SkippedTrivial},
		{"ありがとう！", []string{"ありがとう！"}, schema.SkippedTrivial},
		{"User agreed to deploy", []string{"ok.", "好的"}, schema.SkippedTrivial},
		{"Wants to deploy on Fridays", []string{"Do you want to deploy on Fridays?", "ok"}, ""},
		{"Says ok to everything", []string{"I say ok to everything."}, ""},
		{"User uploaded a file named report.pdf", []string{"I uploaded report.pdf."}, schema.SkippedUpload},
		{"Leads the file upload service team at ACME", []string{"I lead the file upload service team at ACME."}, ""},
		{"User works with CSV files", []string{"I work with CSV files."}, ""},
		{"Something that is so about the user", []string{"I am a nurse."}, schema.SkippedTrivial},
		{"Never translate.", []string{"I am a nurse."}, schema.SkippedTrivial},
		{"Never translate", []string{"Please never translate."}, ""},
		{"Never translate", nil, ""},
		{"", []string{"x"}, ""},
		{"!?", nil, ""},
	} {
		reason, detail := lasting(tt.content, tt.quotes)
		require.Equal(t, tt.want, reason, tt.content)
		require.Equal(t, reason == "", detail == "", tt.content)
	}
}

// A model that repeats its prompt says nothing of the user, whichever sentence, definition or label it repeats.
func TestPromptNeverBecomesAFact(t *testing.T) {
	t.Parallel()
	prompt := llm.ExtractionRequest(nil, llm.Params{}).System
	quotes := []string{"Ich bin Krankenschwester."}
	n := 0
	for start, end := range text.NewBoundaries(prompt).Sentences() {
		sentence := prompt[start:end]
		for _, said := range append(strings.FieldsFunc(sentence, func(r rune) bool { return strings.ContainsRune(`":;,()`, r) }), sentence) {
			if wordless(said) {
				continue
			}
			for _, said := range []string{said, strings.ToUpper(said), strings.TrimRight(said, ".") + "!"} {
				reason, _ := lasting(said, quotes)
				require.NotEmpty(t, reason, said)
				n++
			}
		}
	}
	require.Greater(t, n, 100)
}

func TestScrubUploads(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"User uploaded a file named report.pdf.", "Uploading three test documents yesterday!", "The user has uploaded several CSV files.",
		"I've just attached my screenshot", "He attached two images to the chat.", "Yesterday, the user uploaded report.final.pdf", "report.pdf was uploaded.",
		"A document called plan.md has been uploaded by the user.", "They are uploading a spreadsheet", "Uploaded notes.txt", "I've uploaded my CV.", "User re-uploaded the file.",
		"In this session the user uploaded a video.", "Reads /mnt/user-data/uploads/a.csv.", "User sent <uploaded_files>a</uploaded_files>.",
		"User uploaded a file named Dr. Smith.pdf.", "用户上传了一个文件。", "昨天用户上传了 report.pdf", "ユーザーがファイルをアップロードしました。", "사용자가 보고서 파일을 업로드했습니다.",
		"Der Nutzer hat eine Datei hochgeladen.", "El usuario subió un archivo.", "L'utilisateur a téléversé un fichier.", "O usuário enviou um arquivo.", "Пользователь загрузил файл.",
	} {
		require.Equal(t, "", scrubUploads(s), s)
		if !strings.ContainsAny(s[len(s)-1:], ".!") && !strings.HasSuffix(s, "。") {
			s += "."
		}
		require.Equal(t, "Works at ACME.", scrubUploads(s+" Works at ACME."), s)
		require.Equal(t, "Likes Go!\nWorks at ACME.", scrubUploads("Likes Go! "+s+"\nWorks at ACME."), s)
	}
	for _, s := range []string{
		"Leads the file upload service team at ACME", "User works with CSV files and prefers PDF export.", "Uploaded files are checked by ACME's scanner.",
		"Prefers uploading files with curl.", "Builds a tool that uploads documents to S3.", "User uploaded a file and works at ACME.",
		"Is annoyed by file upload limits.", "User wrote the uploader of images.", "I uploaded my first app in 2019.", "负责文件上传服务", "ファイルのアップロード機能を担当している。", "파일 업로드 서비스를 담당한다.",
		"Mag Dateien.", "", "  spaces stay  ", "- a\n- b\n", "Works on v1.5. Uses net.Conn.",
	} {
		require.Equal(t, s, scrubUploads(s), s)
	}
	require.Equal(t, "- Works at ACME", scrubUploads("- User uploaded a file.\n- Works at ACME"))
}

func TestScrubUploadsIsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{
			"User uploaded a file.", "user uploaded", " a file", "Works at ACME.", "report.pdf", ". ", "\n", "- ", " ", "用户上传了文件。", "喜欢茶。", "Uploading ", "the", "!",
		})
		s := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		once := scrubUploads(s)
		require.Equal(t, once, scrubUploads(once))
		rest := s
		for _, r := range once {
			at := strings.IndexRune(rest, r)
			require.GreaterOrEqual(t, at, 0, "%q is not in %q, in order", once, s)
			rest = rest[at+utf8.RuneLen(r):]
		}
	})
}

func FuzzLasting(f *testing.F) {
	f.Add("User uploaded a file named report.pdf. Works at ACME.", "ok")
	f.Fuzz(func(t *testing.T, content, quote string) {
		reason, detail := lasting(content, []string{quote})
		if (reason == "") != (detail == "") {
			t.Fatalf("%q without %q", reason, detail)
		}
		if once := scrubUploads(content); scrubUploads(once) != once {
			t.Fatalf("%q is scrubbed twice", content)
		}
	})
}

// The output of the context command is not the user's when an agent puts it into a prompt.
func TestContextComesBackAsContext(t *testing.T) {
	t.Parallel()
	counter := CJK2
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[A-Za-z가-힣ß|:\[\]. -]{0,30}`)
		c := Context{
			User:    UserContext{Work: line.Draw(t, "work"), Personal: line.Draw(t, "personal"), CurrentFocus: line.Draw(t, "focus")},
			History: History{Recent: line.Draw(t, "recent"), Earlier: line.Draw(t, "earlier"), Background: line.Draw(t, "background")},
		}
		for range rapid.IntRange(0, 4).Draw(t, "facts") {
			c.Facts = append(c.Facts, Statement{
				Content: line.Draw(t, "content"), Category: rapid.SampledFrom(schema.FactCategories()).Draw(t, "category"),
				Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"), SourceError: line.Draw(t, "source error"),
			})
		}
		block := FormatContext(c, rapid.IntRange(0, 200).Draw(t, "budget"), counter)
		if !strings.Contains(block, ":\n- ") {
			return // It is cut within its header and holds nothing.
		}
		for _, m := range format.Split(schema.Message{Role: schema.RoleUser, Kind: schema.KindText, Text: block + "\n\nWhat next?"}) {
			if m.Kind == schema.KindText {
				require.Equal(t, "What next?", strings.TrimSpace(m.Text), block)
			}
		}
	})
}

// Language is kept: a fact is stored as it was given, trimmed.
func TestFactsKeepTheirLanguage(t *testing.T) {
	t.Parallel()
	contents := []string{
		"  Trinkt gern TEE in der Straße.\n", "喜欢喝茶，不喜欢咖啡。", "お茶が好きです。", "차를 좋아한다.", "Любит Чай", "يحب الشاي", "ｆｕｌｌ ｗｉｄｔｈ", "I\u0307stanbul'da yaşıyor", "e\u0301te",
	}
	m := newMemory(t)
	for _, content := range contents {
		m.say(m.entry(content, 0.9))
	}
	var want []string
	for _, content := range contents {
		want = append(want, strings.TrimSpace(content))
	}
	require.ElementsMatch(t, want, m.contents())
	data, err := json.Marshal(m.contents())
	require.NoError(t, err)
	for _, content := range want {
		require.Contains(t, FormatContext(Context{Facts: Statements(m.facts)}, 10_000, CJK2), content, "%s", data)
	}
}
