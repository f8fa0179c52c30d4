package format

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// questions reads the agent's questions to the user, one or a list of them, and the user's answers. Harnesses write
// the answers by question, by its id, header or place, or as they are.
var questions = tool{answers: true, read: func(b *builder, c call) {
	if !c.answers {
		return
	}
	all := c.args.Get("questions").Array()
	if len(all) == 0 {
		all = []gjson.Result{c.args}
	}
	// It is redacted as a whole: a question may show that its answer is a secret.
	answers := firstOf(gjson.Parse(b.redacted(c.record.Raw)), "answers", "answer")
	if !answers.Exists() && validJSON([]byte(c.result)) {
		answers = firstOf(gjson.Parse(c.result), "answers", "responses", "user_response")
	}
	for i, q := range all {
		question := firstOf(q, "question", "prompt").String()
		answer := answerOf(answers, len(all), question, q.Get("id").String(), q.Get("header").String(), i)
		if answer == "" && !answers.Exists() {
			next := ""
			if i+1 < len(all) {
				next = firstOf(all[i+1], "question", "prompt").String()
			}
			answer = quotedAnswer(c.result, question, q.Get("header").String(), next)
			if answer == "" && len(all) == 1 {
				answer = bareAnswer(c.result)
			}
		}
		if answer = strings.TrimSpace(answer); answer == "" || strings.TrimSpace(question) == "" || slices.Contains(unanswered, answer) {
			continue
		}
		b.says(c, schema.RoleAssistant, schema.KindText, question)
		b.says(c, schema.RoleUser, schema.KindText, answer)
	}
}}

// unanswered are texts in place of an answer that the user did not give.
var unanswered = []string{"Unanswered", "(no option selected)", "None of the above"}

// answerOf finds the answer to a question among those that the harness notes.
func answerOf(answers gjson.Result, of int, question, id, header string, n int) string {
	if answers.Type == gjson.String {
		if of > 1 {
			return ""
		}
		return answers.Str
	}
	var found, placed gjson.Result
	place := -1
	answers.ForEach(func(key, answer gjson.Result) bool {
		place++
		name := key.String()
		if answers.IsArray() {
			name = firstOf(answer, "id", "question").String()
		}
		if name != "" && (name == question || name == id || name == header) {
			found = answer
			return false
		}
		if name == "" && place == n || id == "" && name == strconv.Itoa(n) {
			placed = answer
		}
		return true
	})
	if !found.Exists() {
		found = placed
	}
	if found.IsObject() {
		found = firstOf(found, "answers", "user_response", "answer")
	}
	if !found.IsArray() {
		return found.String()
	}
	var texts []string
	for _, a := range found.Array() {
		if text := strings.TrimPrefix(a.String(), "user_note: "); !slices.Contains(unanswered, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ", ")
}

// quotedAnswer finds the answer in a text that holds "question"="answer", or **header**: answer. Neither escapes quotes, so that
// an answer ends where the next question begins, or else at the last end of a quote.
func quotedAnswer(result, question, header, next string) string {
	if _, rest, found := strings.Cut(result, `"`+question+`"="`); found {
		end := strings.Index(rest, `", "`+next+`"=`)
		bounded := next != "" && end >= 0
		if bounded {
			rest = rest[:end]
		}
		for _, end := range []string{`" selected preview:`, `" user notes:`, `" notes:`} { // The agent wrote the preview.
			if at := strings.Index(rest, end); at >= 0 {
				return rest[:at]
			}
		}
		if bounded {
			return rest
		}
		if end := strings.LastIndex(rest, `". `); end >= 0 {
			return rest[:end]
		}
		answer, _, _ := strings.Cut(rest, `"`)
		return answer
	}
	if _, rest, found := strings.Cut(result, "**"+header+"**: "); found && header != "" {
		answer, _, _ := strings.Cut(rest, "\n**")
		return answer
	}
	return ""
}

// answerElement is an answer at the beginning of a result. Files that the user attaches follow it.
var answerElement = regexp.MustCompile(`(?s)^\s*(?:\[[^\n]*\] Result:\s*)?(?:<answer>(.*?)</answer>|<user_message>(.*?)</user_message>)`)

// bareAnswer finds the answer to a single question.
func bareAnswer(result string) string {
	if found := answerElement.FindStringSubmatch(result); found != nil {
		return found[1] + found[2]
	}
	for _, start := range []string{"The user responded: ", "The user selected: ", "User selected: ", "User provided custom input: ", "User responded: "} {
		if answer, ok := strings.CutPrefix(result, start); ok {
			return answer
		}
	}
	return ""
}

// A refused result begins with start. The user's words, if there are any, follow one of the marks, up to end.
type refused struct {
	start, end string
	marks      []string
}

// refusals are how harnesses report a call that the user did not allow.
var refusals = []refused{
	{"The user doesn't want to proceed with this tool use.", "\n\nNote: The user's next message", []string{"the user said:", "the following reason for the rejection:"}},
	{start: "The user doesn't want to take this action right now."},
	{start: "User rejected tool use"},
	{start: "The agent proposed a plan that was rejected by the user."},
	{"Permission for this tool use was denied.", "\n\nNote: ", []string{"The user said:"}},
	{"Plan rejected.", "\n\nThe plan is stored at:", []string{"User feedback:"}},
	{"Plan needs revision.", "", []string{"User feedback:"}},
	{"User rejected the plan.", "", []string{"Feedback:"}},
	{start: "Plan rejected by user."},
	{"The user rejected permission to use this specific tool call", "", []string{"with the following feedback:"}},
	{start: "Plan execution was not approved."},
	{start: "[Operation Cancelled]"},
	{start: "exec command rejected by user"},
	{start: "patch rejected by user"},
	{start: "The user has declined to run this tool."},
	{"The user denied this operation.", "\n</feedback>", []string{"<feedback>"}},
}

// refusal reports whether a result says that the user did not allow the call, and returns the user's words.
func refusal(result string) (words string, found bool) {
	result = strings.TrimPrefix(result, "Error: ")
	for _, r := range refusals {
		if !strings.HasPrefix(result, r.start) {
			continue
		}
		for _, mark := range r.marks {
			if _, rest, ok := strings.Cut(result, mark); ok {
				if r.end != "" {
					rest, _, _ = strings.Cut(rest, r.end)
				}
				words = strings.TrimSpace(rest)
				break
			}
		}
		if strings.HasPrefix(words, "The user wants to clarify these questions.") || words == "No feedback provided." {
			words = "" // The harness wrote them.
		}
		return words, true
	}
	return "", false
}

// approvals are how harnesses report that the user has approved a plan.
var approvals = []string{"User has approved your plan.", "User approved. You can now start coding.", "Plan approved by user."}

// plan reads a plan that the user has approved.
var plan = tool{answers: true, read: func(b *builder, c call) {
	if c.answers && slices.ContainsFunc(approvals, func(a string) bool { return strings.HasPrefix(c.result, a) }) {
		b.says(c, schema.RoleAssistant, schema.KindPlan, c.args.Get("plan").String())
	}
}}
