package pair

import (
	"regexp"
	"strings"
)

// labels introduce a statement with a colon, and refusals with a comma. They announce a statement, or say that another
// one is wrong, but have no content themselves.
var (
	labels = []string{
		"decision", "correction", "conclusion", "resolution", "update", "note", "reminder", "fact", "preference", "rule", "edit",
		"entscheidung", "beschluss", "korrektur", "hinweis", "décision", "conclusion", "remarque", "decisión", "corrección", "nota",
		"decisão", "correção", "decisione", "correzione", "besluit", "correctie", "beslut", "rättelse", "решение", "исправление",
		"결정", "정정", "수정", "결론", "決定", "訂正", "修正", "結論", "决定", "更正", "结论",
	}
	refusals = []string{
		"no", "nope", "wrong", "actually", "sorry", "oops", "rather", "correction", "nein", "doch", "falsch", "non", "faux", "não", "nee",
		"nej", "нет", "nie", "아니", "아니요", "아니야", "아뇨", "いいえ", "いや", "違います", "不", "不对", "不是", "不對",
	}
	leading = regexp.MustCompile(`(?i)^\s*(?:(?:` + strings.Join(labels, "|") + `)\s*[:：]|(?:` + strings.Join(refusals, "|") + `)\s*[,，、.!。！])\s*`)

	// contrast matches a negated alternative of a word or two at the end of a statement.
	contrast = regexp.MustCompile(`(?i)[,，、;]\s*(?:(?:and |und |et |y |e )?(?:not|nicht|pas|no|não|non|niet|inte|nie|не)\s+|而?不是\s*)[^\s,，、;.]\S*(?:\s+\S+)?\s*$`)
)

// generic matches a value with a label that names no subject, and a title that only introduces the next one: "Version:
// 1.2", "When it is true:".
var generic = regexp.MustCompile(`(?i)^[\s*_#>-]*(?:(?:my |our )?recommendation|(?:the )?(?:version|length|size|location|located at|path|file|lines?|länge|empfehlung|longueur|longitud))[*_]*\s*[:：]\s*\S+(?:\s+\S+){0,2}\s*$|[:：][\s*_]*$`)

// maxLeads is the maximum number of labels and refusals before a statement: "No, correction: …".
const maxLeads = 2

// withoutLead returns the statement without its labels and refusals.
func withoutLead(title string) string {
	for range maxLeads {
		rest := title[len(leading.FindString(title)):]
		if strings.TrimSpace(rest) == "" {
			break
		}
		title = rest
	}
	return title
}

// withoutContrast returns the statement without a negated alternative at its end. "The limit is 9, not 8" states that
// the limit is 9.
func withoutContrast(statement string) string {
	if at := contrast.FindStringIndex(strings.TrimRight(statement, " .!。！")); at != nil && at[0] > 0 {
		return statement[:at[0]]
	}
	return statement
}
