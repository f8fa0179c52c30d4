package fact

import (
	"slices"
	"strings"
	"time"

	"axiommind/schema"
)

// Section is the summary of a section of the profile.
type Section struct {
	// Name is one of [schema.ProfileSections].
	Name string `json:"section"`
	// Summary is empty if a person removed the section.
	Summary    string  `json:"summary"`
	Confidence float64 `json:"confidence"`
	Project    string  `json:"project,omitempty"`
	// Actor set the section. SessionID and EntryID lead to its evidence. They are empty if a person wrote it.
	Actor     string `json:"actor"`
	SessionID string `json:"session_id,omitempty"`
	EntryID   string `json:"entry_id,omitempty"`
	// UpdatedAt is when the summary was said, and Version the position of its event.
	UpdatedAt time.Time `json:"updated_at"`
	Version   uint64    `json:"version"`
	// Entry is the standing of its entry. Only [Tables.Profile] sets it, and it is nil for a summary that a person wrote.
	Entry *EntryStatus `json:"entry,omitempty"`
}

// setSection plans the new summary of a section of the profile.
func (p *planner) setSection(x proposal) error {
	return p.emit(x.key, x.at, schema.ProfileUpdatedPayload{
		Act: x.act, Section: x.section, Summary: strings.TrimSpace(x.content), Confidence: confidenceOf(x),
	})
}

// objectionToSection returns the reason not to make the proposal a summary of its section, or nil. A session's statement
// is recorded even if it repeats an earlier one: it counts once later statements are no longer believed.
func (p *planner) objectionToSection(x proposal) *schema.FactSkippedPayload {
	current, ok := p.overlay.sections[x.section]
	switch {
	case !slices.Contains(schema.ProfileSections(), x.section):
		return skip(schema.SkippedCategory, "section is %q, want one of %s", x.section, strings.Join(schema.ProfileSections(), ", "))
	case ok && x.act.EntryID == "" && Key(current.Summary) == Key(x.content):
		return skip(schema.SkippedDuplicate, "the section %s says the same", x.section)
	}
	return nil
}

// CurrentProfile returns of each section, in the order of [schema.ProfileSections], the first summary that is believed. A
// section that a person removed is missing. The summaries are given in order, the latest statement first.
func CurrentProfile(sections []Section) []Section {
	last := map[string]Section{}
	for _, s := range sections {
		if _, known := last[s.Name]; !known && !s.Entry.Ended() {
			last[s.Name] = s
		}
	}
	var out []Section
	for _, name := range schema.ProfileSections() {
		if s := last[name]; s.Summary != "" {
			out = append(out, s)
		}
	}
	return out
}

// NotInProfile returns the facts that no section states word for word, so that a prompt repeats nothing.
func NotInProfile(facts []Fact, profile []Section) []Fact {
	told := map[string]bool{}
	for _, s := range profile {
		told[Key(s.Summary)] = true
	}
	return slices.DeleteFunc(slices.Clone(facts), func(f Fact) bool { return told[Key(f.Content)] })
}

// NewContext returns the content of a prompt: the sections of the profile, and the facts as statements in the same order.
func NewContext(profile []Section, facts []Fact) Context {
	summaries := map[string]string{}
	for _, s := range profile {
		summaries[s.Name] = s.Summary
	}
	return Context{
		User: UserContext{
			Work: summaries[schema.SectionWork], Personal: summaries[schema.SectionPersonal], CurrentFocus: summaries[schema.SectionTopOfMind],
		},
		History: History{
			Recent: summaries[schema.SectionRecent], Earlier: summaries[schema.SectionEarlier], Background: summaries[schema.SectionBackground],
		},
		Facts: Statements(facts),
	}
}
