package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"axiommind/schema"
)

const maxLocomo = 64 << 20 // bytes

// locomoCategories are the names of the categories.
var locomoCategories = map[int]string{1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

type locomoSample struct {
	ID           string                     `json:"sample_id"`
	Conversation map[string]json.RawMessage `json:"conversation"`
	QA           []struct {
		Question string   `json:"question"`
		Evidence []string `json:"evidence"`
		Category int      `json:"category"`
	} `json:"qa"`
}

type locomoTurn struct {
	Speaker string `json:"speaker"`
	ID      string `json:"dia_id"`
	Text    string `json:"text"`
	Caption string `json:"blip_caption"`
}

// dialogID is the session and turn of a dialog id such as D1:3. Both count from 1.
type dialogID struct{ session, turn int }

// LoCoMo reads the data set of that name. Each conversation is a project. The first speaker is the user, the other one the
// assistant, and a message is the speaker, the text, and the caption of the picture that was shared. Adversarial questions
// are left out unless asked for.
func LoCoMo(r io.Reader, name string, opts ImportOptions) (Dataset, error) {
	raw, err := readAll(r, name, maxLocomo)
	if err != nil {
		return Dataset{}, err
	}
	var samples []locomoSample
	if err := json.Unmarshal(raw, &samples); err != nil {
		return Dataset{}, invalid(name, 0, fmt.Errorf("is not LoCoMo: want a list of {sample_id, conversation, qa}: %w", err))
	}
	var d Dataset
	seen := map[string]bool{}
	for i, s := range samples {
		if s.ID == "" || seen[s.ID] || len(s.Conversation) == 0 {
			return Dataset{}, invalid(name, 0, fmt.Errorf("sample %d: want a sample_id of its own and a conversation", i))
		}
		seen[s.ID] = true
		turns, err := d.addLocomoSessions(s)
		if err != nil {
			return Dataset{}, invalid(name, 0, fmt.Errorf("sample %s: %w", s.ID, err))
		}
		d.addLocomoQuestions(s, turns, opts)
	}
	if len(d.Questions) == 0 {
		return Dataset{}, invalid(name, 0, errors.New("there is no question in it that can be measured"))
	}
	return d, nil
}

func (s locomoSample) project() string { return "locomo-" + s.ID }

func (s locomoSample) session(n int) string { return fmt.Sprintf("%s-%d", s.ID, n) }

// addLocomoSessions adds the sessions of the sample, and returns where each turn is.
func (d *Dataset) addLocomoSessions(s locomoSample) (map[dialogID]Ref, error) {
	var first string
	_ = json.Unmarshal(s.Conversation["speaker_a"], &first) // Without it, whoever speaks first is the user.
	var numbers []int
	for key := range s.Conversation {
		if n, err := strconv.Atoi(strings.TrimPrefix(key, "session_")); err == nil && strings.HasPrefix(key, "session_") {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	places := map[dialogID]Ref{}
	for _, n := range numbers {
		key := fmt.Sprintf("session_%d", n)
		var turns []locomoTurn
		if err := json.Unmarshal(s.Conversation[key], &turns); err != nil {
			return nil, fmt.Errorf("%s: want a list of turns: %w", key, err)
		}
		if len(turns) == 0 {
			continue
		}
		var date string
		_ = json.Unmarshal(s.Conversation[key+"_date_time"], &date) // A value that is no text is no date.
		at, err := time.Parse("3:04 pm on 2 January, 2006", strings.TrimSpace(date))
		if err != nil {
			return nil, fmt.Errorf("%s_date_time is %q: want one like \"3:04 pm on 2 January, 2006\"", key, date)
		}
		session := Session{Project: s.project(), ID: s.session(n)}
		for i, t := range turns {
			said := strings.TrimSpace(strings.TrimSpace(t.Text) + " " + strings.TrimSpace(t.Caption))
			ids := dialogIDs(t.ID)
			if len(ids) != 1 {
				return nil, fmt.Errorf("%s, turn %d: dia_id is %q: want one like D1:3", key, i, t.ID)
			}
			if said == "" {
				continue
			}
			if first == "" {
				first = t.Speaker
			}
			role := schema.RoleAssistant
			if t.Speaker == first {
				role = schema.RoleUser
			}
			places[ids[0]] = MessageRef(session.ID, len(session.Messages))
			session.Messages = append(session.Messages, Message{Role: role, Speaker: t.Speaker, Time: at, Text: t.Speaker + ": " + said})
		}
		if len(session.Messages) > 0 {
			d.Sessions = append(d.Sessions, session)
		}
	}
	return places, nil
}

func (d *Dataset) addLocomoQuestions(s locomoSample, turns map[dialogID]Ref, opts ImportOptions) {
	for i, qa := range s.QA {
		category, known := locomoCategories[qa.Category]
		id := fmt.Sprintf("%s-q%d", s.ID, i+1)
		switch {
		case !known:
			d.leaveOut("question %s: category %d is not known", id, qa.Category)
			continue
		case qa.Category == 5 && !opts.Unanswerable:
			continue
		}
		q := Question{ID: id, Query: qa.Question, Project: s.project(), Category: category, Language: "en"}
		seen := map[dialogID]bool{}
		for _, evidence := range qa.Evidence {
			for _, dialog := range dialogIDs(evidence) {
				ref, there := turns[dialog]
				switch {
				case seen[dialog]:
				case !there:
					d.leaveOut("question %s: there is no turn D%d:%d", id, dialog.session, dialog.turn)
				default:
					q.Relevant = append(q.Relevant, ref)
				}
				seen[dialog] = true
			}
		}
		if len(q.Relevant) == 0 || strings.TrimSpace(q.Query) == "" {
			d.leaveOut("question %s: no turn is given that answers it", id)
			continue
		}
		d.Questions = append(d.Questions, q)
	}
}

// dialogPattern also matches the misspelt ids of the data, with a colon too many or a zero before the number.
var dialogPattern = regexp.MustCompile(`D:?(\d{1,6}):(\d{1,6})`)

// dialogIDs returns the ids in a text. Some of the data have several in one text.
func dialogIDs(text string) []dialogID {
	var out []dialogID
	for _, m := range dialogPattern.FindAllStringSubmatch(text, -1) {
		session, _ := strconv.Atoi(m[1]) // Six digits are a number.
		turn, _ := strconv.Atoi(m[2])
		out = append(out, dialogID{session, turn})
	}
	return out
}
