package prose

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/schema"
)

// Word is a word of an English sentence in lower case, and its position.
type Word struct {
	Low        string
	Start, End int
	// Opens is true for the first word and for one after a mark that ends a clause.
	Opens bool
}

// Words returns the words of a sentence.
func Words(s string) []Word {
	var out []Word
	opens := true
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !WordRune(r) {
			opens = opens || strings.ContainsRune(",;—–!.?", r)
			i += size
			continue
		}
		end := i
		for end < len(s) {
			r, size := utf8.DecodeRuneInString(s[end:])
			inner := end+size < len(s) && strings.ContainsRune("'’.,-", r) && wordByte(s[end+size])
			if !WordRune(r) && !inner {
				break
			}
			end += size
		}
		low := strings.ReplaceAll(strings.ToLower(s[i:end]), "’", "'")
		out = append(out, Word{low, i, end, opens})
		opens, i = false, end
	}
	return out
}

// WordRune reports whether a letter is part of a word.
func WordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '$' }

func wordByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

func first(words []Word) string {
	if len(words) == 0 {
		return ""
	}
	return words[0].Low
}

// Set returns the words of a list that spaces part.
func Set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// ContainsAny reports whether a text contains one of the words.
func ContainsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// sectionHeads give their status to the list below them.
var sectionHeads = map[string]schema.TaskStatus{
	"todo": schema.TaskPending, "todos": schema.TaskPending, "to do": schema.TaskPending, "to-do": schema.TaskPending,
	"todo list": schema.TaskPending, "action items": schema.TaskPending, "remaining": schema.TaskPending,
	"remaining work": schema.TaskPending, "remaining tasks": schema.TaskPending, "open tasks": schema.TaskPending,
	"할 일": schema.TaskPending, "할일": schema.TaskPending, "남은 작업": schema.TaskPending, "남은 일": schema.TaskPending,
	"待办": schema.TaskPending, "待办事项": schema.TaskPending, "待辦": schema.TaskPending, "待辦事項": schema.TaskPending,
	"未完成": schema.TaskPending, "剩余任务": schema.TaskPending, "やること": schema.TaskPending, "残タスク": schema.TaskPending,

	"done": schema.TaskDone, "completed": schema.TaskDone, "completed tasks": schema.TaskDone, "완료": schema.TaskDone,
	"완료된 작업": schema.TaskDone, "已完成": schema.TaskDone, "完了": schema.TaskDone,

	"in progress": schema.TaskInProgress, "진행 중": schema.TaskInProgress, "进行中": schema.TaskInProgress,
	"進行中": schema.TaskInProgress,

	"blocked": schema.TaskBlocked, "阻塞": schema.TaskBlocked, "막힌 작업": schema.TaskBlocked,
}

// Head returns the status that a line such as "TODO:" gives to the list below it.
func Head(text string) (schema.TaskStatus, bool) {
	const longest = 48
	if len(text) > longest {
		return "", false
	}
	head := strings.ToLower(strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsSymbol(r) || r != '-' && unicode.IsPunct(r)
	}))
	status, ok := sectionHeads[head]
	return status, ok
}
