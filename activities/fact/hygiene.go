package fact

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"axiommind/activities/llm"
	"axiommind/activities/text"
	"axiommind/schema"
)

// lasting returns why a fact from a session is not worth remembering, and an explanation for people. Both are empty if
// there is no objection. The quotes are the session's words about the fact.
//
// A fact is not stored if it, or all of its quotes, only acknowledges; if it only reports a file upload; or if it repeats
// words of the extraction prompt that are in no quote.
func lasting(content string, quotes []string) (reason, detail string) {
	switch {
	case text.Trivial(content):
		return schema.SkippedTrivial, "it only acknowledges"
	case len(quotes) > 0 && allTrivial(quotes):
		return schema.SkippedTrivial, fmt.Sprintf("its quotes only acknowledge, such as %q", quotes[0])
	case wordless(scrubUploads(content)) && !wordless(content):
		return schema.SkippedUpload, "it only reports an upload, and the file is gone with the session"
	case copiesPrompt(content, quotes):
		return schema.SkippedTrivial, "it repeats the extraction prompt"
	}
	return "", ""
}

func allTrivial(quotes []string) bool {
	for _, q := range quotes {
		if !text.Trivial(q) {
			return false
		}
	}
	return true
}

// promptWords are the words of the extraction prompt, in order.
var promptWords = sync.OnceValue(func() string { return wordsOf(llm.ExtractionRequest(nil, llm.Params{}).System) })

// copiesPrompt reports whether the words of a fact are consecutive in the extraction prompt and in no quote.
func copiesPrompt(content string, quotes []string) bool {
	words := wordsOf(content)
	if len(quotes) == 0 || words == " " || !strings.Contains(promptWords(), words) {
		return false
	}
	for _, q := range quotes {
		if strings.Contains(wordsOf(q), words) {
			return false
		}
	}
	return true
}

// wordsOf returns the words of a text without case and punctuation, each with a space on either side.
func wordsOf(s string) string {
	return " " + strings.Join(strings.FieldsFunc(text.Caseless(s), func(r rune) bool { return !isWordRune(r) }), " ") + " "
}

func isWordRune(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

func wordless(s string) bool { return strings.IndexFunc(s, isWordRune) < 0 }

// scrubUploads returns a summary without the sentences that only report a file upload. The rest is unchanged.
func scrubUploads(summary string) string {
	for {
		scrubbed := scrubOnce(summary)
		if scrubbed == summary {
			return summary
		}
		summary = strings.TrimSpace(scrubbed)
	}
}

func scrubOnce(summary string) string {
	var out strings.Builder
	for line := range strings.Lines(summary) {
		if rest, changed := scrubLine(line); !changed {
			out.WriteString(line)
		} else if !wordless(rest) {
			out.WriteString(rest)
		}
	}
	return out.String()
}

// scrubLine drops sentences of a line with the white space behind them.
func scrubLine(line string) (rest string, changed bool) {
	var out strings.Builder
	kept, dropped := 0, false
	for start, end := range text.NewBoundaries(line).Sentences() {
		sentence := line[start:end]
		if dropped = reportsUpload(sentence) || dropped && bareFile.MatchString(sentence); !dropped {
			continue
		}
		out.WriteString(line[kept:start])
		kept = len(line) - len(strings.TrimLeft(line[end:], " \t\u00a0\u3000"))
		changed = true
	}
	if !changed {
		return line, false
	}
	out.WriteString(line[kept:])
	body := strings.TrimRight(line, "\r\n")
	return strings.TrimRightFunc(out.String(), unicode.IsSpace) + line[len(body):], true
}

// reportsUpload reports whether a sentence reports a file upload and nothing else.
func reportsUpload(sentence string) bool {
	if uploadPlace.MatchString(sentence) {
		return true
	}
	if saysMore.MatchString(sentence) {
		return false
	}
	for _, re := range uploadReports {
		if re.MatchString(sentence) {
			return true
		}
	}
	return false
}

var (
	// uploadPlace is where the harness of the original keeps uploads, and how it lists them.
	uploadPlace = regexp.MustCompile(`(?i)/mnt/user-data/uploads/|</?(?:uploaded_files|current_uploads)>`)
	// saysMore matches a clause that continues with a statement about the user.
	saysMore = regexp.MustCompile(`(?i)\b(?:and|who|because|since|but)\s+(?:(?:he|she|they|i|we)\s+)?(?:(?:also|always|usually|now)\s+)?` +
		`(?:is|are|am|works?|prefers?|likes?|loves?|hates?|dislikes?|uses?|lives?|leads?|wants?|needs?|has|have|studies|speaks?|owns?|runs?|manages?|teaches|plans?)\b`)
	// bareFile is the rest of a file's name that holds a full stop.
	bareFile = regexp.MustCompile(`^\S+\.[A-Za-z0-9]{1,5}[.!]?$`)
)

// uploadReports match sentences that report an upload. A report differs from "the file upload service" and "uploaded
// files are checked" by its verb: it has a subject, or the uploaded files are counted or named.
var uploadReports = func() []*regexp.Regexp {
	const (
		file = `(?:[\w'’()-]*\.[a-z0-9]{1,5}\b|(?:files?|documents?|attachments?|images?|pictures?|photos?|screenshots?|pdfs?|csvs?|` +
			`spreadsheets?|archives?|folders?|videos?|recordings?|cvs?|resumes?|résumés?|papers?|reports?|datasets?|zips?|logs?|contracts?|invoices?|slides?|presentations?|transcripts?)\b)`
		when    = `(?:(?:yesterday|today|recently|earlier|previously|once|in (?:this|the|an?) (?:\w+ )?(?:session|conversation|chat|thread)|on [\w-]+(?: \d+)?),?\s+)?`
		subject = `(?:(?:the |this |our )?(?:user|human|person|customer|client)|he|she|they|i|we|you)(?:'ve|’ve)?\s+`
		aux     = `(?:(?:has|have|had|is|are|was|were|been|also|just|already|recently|previously|once|then|today|yesterday|now|successfully)\s+)*`
		verb    = `(?:re-?)?(?:upload(?:ed|ing)|attach(?:ed|ing))\s+`
		counted = `(?:an?|the|this|that|these|those|one|two|three|four|five|six|seven|eight|nine|ten|\d+|several|some|multiple|many|few|various|another|his|her|their|my|our|new)\s+`
		words   = `(?:\S+\s+){0,6}?`
		opening = `["'“‘«(*` + "`" + `\s-]*`
	)
	of := func(s string) *regexp.Regexp { return regexp.MustCompile(`(?i)^` + opening + s) }
	return []*regexp.Regexp{
		of(when + subject + aux + verb + words + opening + file),
		of(when + aux + verb + counted + words + opening + file),
		of(when + aux + verb + opening + `[\w'’()-]+\.[a-z0-9]{1,5}\b`),
		of(when + words + file + `(?:\s+\S+){0,4}?\s+(?:was|were|(?:has|have|had)\s+been|got)\s+(?:\w+\s+)?(?:uploaded|attached)\b`),
		of(`(?:用户|用戶|使用者|客户|他们?|她|我|昨天|今天|刚刚?|已经?)*(?:上传了|上傳了|已上传|已上傳|附上了|附加了).*?(?:文件|文档|文檔|档案|檔案|附件|图片|圖片|照片|截图|截圖|表格|[\w-]+\.[a-z0-9]{1,5})`),
		of(`.*?(?:ファイル|文書|書類|資料|画像|写真|ドキュメント|添付|PDF|CSV|\.[a-z0-9]{1,5}).{0,20}(?:アップロード|添付)(?:した|しました|しています|している|済み)[。.!！]?$`),
		of(`.*?(?:파일|문서|이미지|사진|자료|PDF|CSV|\.[a-z0-9]{1,5}).{0,20}(?:(?:업로드|첨부)(?:했|하였)(?:다|습니다|어요|음)|(?:업로드|첨부)함|올렸(?:다|습니다|어요))[.!]?$`),
		of(`(?:\S+\s+){0,4}?(?:hat|haben|habe)\s+.*?(?:datei|dokument|bild|anhang|\.[a-z0-9]{1,5}\b).*hochgeladen`),
		of(`(?:\S+\s+){0,3}?(?:subió|ha subido|cargó|ha cargado|adjuntó)\s+.*?(?:archivo|documento|fichero|imagen|\.[a-z0-9]{1,5}\b)`),
		of(`(?:\S+\s+){0,3}?a\s+(?:téléversé|téléchargé|importé|joint)\s+.*?(?:fichier|document|image|\.[a-z0-9]{1,5}\b)`),
		of(`(?:\S+\s+){0,3}?(?:enviou|carregou|anexou)\s+.*?(?:arquivo|ficheiro|documento|imagem|\.[a-z0-9]{1,5}\b)`),
		of(`(?:\S+\s+){0,3}?(?:загрузил[аи]?|прикрепил[аи]?)\s+.*?(?:файл|документ|изображени|\.[a-z0-9]{1,5}\b)`),
	}
}()
