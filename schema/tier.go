package schema

import (
	"fmt"
	"slices"
	"time"
)

// Event types of memory streams that record the tiers of memory: daily records, core memory and dreams.
const (
	ContextFlushed = "context_flushed"
	RecordEdited   = "record_edited"
	CoreCommitted  = "core_committed"
	DreamFinished  = "dream_finished"
)

// DreamGathered is the type of the only event of a dream stream.
const DreamGathered = "dream_gathered"

// DateLayout is the form of dates in the events of memory, which are days in the time zone of the worker that wrote
// them. ClockLayout is that of times of a day.
const (
	DateLayout  = time.DateOnly
	ClockLayout = "15:04"
)

// FlushReason is the reason why a context was flushed to the daily record.
type FlushReason string

// Reasons of a flush. The zero value is the end of a session.
const (
	FlushEnd      FlushReason = ""
	FlushTrim     FlushReason = "trim"
	FlushOverflow FlushReason = "overflow"
	FlushDaily    FlushReason = "daily_summary"
)

// FlushReasons returns all reasons.
func FlushReasons() []FlushReason {
	return []FlushReason{FlushEnd, FlushTrim, FlushOverflow, FlushDaily}
}

// ContextFlushedPayload adds a summary of consecutive messages of a session to the daily record.
type ContextFlushedPayload struct {
	SessionKey
	BuildID string      `json:"build_id,omitempty"`
	Reason  FlushReason `json:"reason,omitempty"`
	// Date is the day of the record with the summary, and Clock the time in its heading.
	Date  string `json:"date"`
	Clock string `json:"clock"`
	// First and Last are the indexes of the first and the last message. Messages between them that are not conversation
	// were left out of the summary.
	First int `json:"first"`
	Last  int `json:"last"`
	// Turns counts the messages of the user among them.
	Turns int `json:"turns"`
	// Summarizer is the model that wrote the summary, and Responses are the keys of its answers.
	Summarizer string   `json:"summarizer"`
	Responses  []string `json:"responses,omitempty"`
	// Text is the summary in Markdown. It is empty if there was nothing to record. The record then does not change.
	Text string `json:"text"`
	// LeftOut are lines of the summary that were not kept.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	Usage   Usage     `json:"usage"`
}

// Remains erases the summary if any of its messages is erased.
func (p ContextFlushedPayload) Remains(f Forgetting) Remainder {
	if f.OwnsMessages(p.Stream(), p.First, p.Last) {
		return Remainder{Erased: true}
	}
	return Remainder{General: true}
}

// Lost notes that the record contained erased content.
func (p ContextFlushedPayload) Lost(f Forgetting) { touch(f, RecordDaily, p.Date) }

// AnswerKeys returns those of the summarizer's answers.
func (p ContextFlushedPayload) AnswerKeys() []string { return p.Responses }

// LeftOut is a line of a model's answer that was not kept, with the reason.
type LeftOut struct {
	Text   string `json:"text"`
	Reason string `json:"reason"`
}

// RecordKind is a kind of dated file of memory.
type RecordKind string

// Kinds of dated files: the daily records, and the diaries of dreams.
const (
	RecordDaily RecordKind = "daily"
	RecordDiary RecordKind = "diary"
)

// RecordEditedPayload records a person's edit of a file. From then on the file's text is Text, to which later events
// are added.
type RecordEditedPayload struct {
	Kind RecordKind `json:"kind"`
	Date string     `json:"date"`
	// Text is the whole file. Replaced is the hex SHA-256 of the text without the edit, and Read that of the file as it
	// was read. Text may contain more, which the person has not seen.
	Text     string `json:"text"`
	Replaced string `json:"replaced"`
	Read     string `json:"read"`
}

// Remains erases the edit of a file that contained erased content, because the person's own words can't be separated from
// it.
func (p RecordEditedPayload) Remains(f Forgetting) Remainder {
	_, touched := f.Noted(fileNote(p.Kind, p.Date))
	return Remainder{Erased: touched || f.Says(p.Text)}
}

// Lost notes that the file contained erased content.
func (p RecordEditedPayload) Lost(f Forgetting) { touch(f, p.Kind, p.Date) }

func touch(f Forgetting, kind RecordKind, date string) { f.Note(fileNote(kind, date), "") }

func fileNote(kind RecordKind, date string) string { return "file " + string(kind) + " " + date }

// CoreOrigin is the origin of a version of core memory.
type CoreOrigin string

// Origins of versions.
const (
	OriginDream   CoreOrigin = "dream"
	OriginEdit    CoreOrigin = "edit"
	OriginRestore CoreOrigin = "restore"
)

// CoreItem is one statement of core memory.
type CoreItem struct {
	// Text has no bullet. Lines after the first are not indented.
	Text string `json:"text"`
	// Heading is the path of headings above the item, from the outermost, without their marks and separated by line
	// feeds. It is empty if there are none.
	Heading string `json:"heading,omitempty"`
	// Sources are the ids of the events, entries and facts that state it, the oldest first.
	Sources []string `json:"sources"`
	// Worth is how sure its surest source is that it is worth keeping, from 0 to 1, and Said the last day on which a source
	// said it.
	Worth float64 `json:"worth,omitempty"`
	Said  string  `json:"said,omitempty"`
	// Written is true if a person wrote it into MEMORY.md or restored it.
	Written bool `json:"written,omitempty"`
}

// CoreCommittedPayload is a version of core memory. No version is ever changed.
type CoreCommittedPayload struct {
	Act
	// Version counts the scope's versions from 1. Parent is the version that this one follows, 0 for none.
	Version int        `json:"version"`
	Parent  int        `json:"parent"`
	Origin  CoreOrigin `json:"origin"`
	// Text is the whole MEMORY.md, and Items are its statements, in order.
	Text  string     `json:"text"`
	Items []CoreItem `json:"items"`
	// Read is the hex SHA-256 of the file that a person edited, as it was read. Text may contain more, which the person
	// has not seen. Other origins have none.
	Read string `json:"read,omitempty"`
	// Diff is the unified diff from the parent's text.
	Diff string `json:"diff"`
	// Dropped are the items of the parent and of the model's answer that this version does not contain.
	Dropped []DroppedItem `json:"dropped,omitempty"`
	// Dream is the ordinal of the dream, or 0. Restored is the version whose text this one has again, or 0.
	Dream    int `json:"dream,omitempty"`
	Restored int `json:"restored,omitempty"`
}

// Remains removes the items that depend on erased content, also those in the list of dropped items.
func (p CoreCommittedPayload) Remains(f Forgetting) Remainder {
	gone := func(sources []string, texts ...string) bool {
		return slices.ContainsFunc(texts, f.Says) || slices.ContainsFunc(sources, f.Names)
	}
	lose := func(text string) { f.Note("item "+text, "") }
	items, dropped := len(p.Items), len(p.Dropped)
	p.Items = slices.DeleteFunc(slices.Clone(p.Items), func(i CoreItem) bool {
		lost := gone(i.Sources, i.Text, i.Heading)
		if lost {
			lose(i.Text)
		}
		return lost
	})
	for _, d := range p.Dropped { // It may have left in the same version as the items that it stated.
		if gone(d.Sources, d.Text) {
			lose(d.Text)
		}
	}
	changed := len(p.Items) < items
	if changed {
		f.Note("reduced", "")
	}
	_, reduced := f.Noted("reduced")
	p.Dropped = slices.DeleteFunc(slices.Clone(p.Dropped), func(d DroppedItem) bool {
		// An item without a source is text by a model that had read erased content.
		return gone(d.Sources, d.Text, d.By, d.Detail) || reduced && len(d.Sources) == 0
	})
	if changed || f.Says(p.Text) {
		text := f.CoreText(p.Items)
		p.Text, changed = text, changed || text != p.Text
	}
	for i, d := range p.Dropped {
		if _, lost := f.Noted("item " + d.By); lost { // The replacing item is erased.
			p.Dropped[i].By, changed = "", true
		}
	}
	if f.Says(p.Reason) {
		p.Reason, changed = "", true
	}
	version := func(n int) string { return fmt.Sprintf("version %d", n) }
	before, known := f.Noted(version(p.Parent))
	f.Note(version(p.Version), p.Text)
	if reduced && (known || p.Parent == 0) {
		if diff := f.CoreDiff(before, p); diff != p.Diff {
			p.Diff, changed = diff, true
		}
	}
	return remainder(p, changed || len(p.Dropped) < dropped)
}

// Values of DroppedItem.From.
const (
	FromMemory = "memory"
	FromAnswer = "answer"
)

// Values of DroppedItem.Reason.
const (
	// DroppedUngrounded: no source says this. Only items of an answer are dropped for it.
	DroppedUngrounded = "ungrounded"
	// DroppedDuplicate: another item says the same. DroppedMerged: its sentences are in other items.
	DroppedDuplicate = "duplicate"
	DroppedMerged    = "merged"
	// DroppedSuperseded: the answer names a newer statement of a source that replaces it.
	DroppedSuperseded = "superseded"
	// DroppedHeading: the heading is neither one of [CoreHeadings] nor one of the memory, or an item of the memory may not
	// be moved under it. Its items are kept.
	DroppedHeading = "heading"
	// DroppedEdited: a person removed it from the file, or restored a version without it.
	DroppedEdited = "edited"
	// DroppedRoom: there is no room for the item beside those that weigh more.
	DroppedRoom = "room"
)

// DroppedItem is an item that a version does not contain, with the reason.
type DroppedItem struct {
	Text string `json:"text"`
	From string `json:"from"`
	// Reason is one of the constants above. Detail explains it to a person.
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	// By is the text of the item that says the same or replaces it.
	By      string   `json:"by,omitempty"`
	Sources []string `json:"sources,omitempty"`
}

// CoreHeadings are the headings under which a dream may group items, in addition to those of the memory.
func CoreHeadings() []string {
	return []string{"Preferences", "Knowledge", "Context", "Behavior", "Goals", "Corrections", "Decisions", "Insights", "References"}
}

// DreamStatus is how a dream ended.
type DreamStatus string

// Statuses of dreams. A skipped or dry dream is only ever returned, never stored, because it writes no event.
const (
	// DreamCommitted: core memory has a new version. DreamUnchanged: it is the same as before.
	DreamCommitted DreamStatus = "committed"
	DreamUnchanged DreamStatus = "unchanged"
	// DreamIsRefused: the answer was unusable. Core memory stays, and the next dream reads the same days again.
	DreamIsRefused DreamStatus = "refused"
	DreamSkipped   DreamStatus = "skipped"
	DreamDry       DreamStatus = "dry_run"
)

// Day is a day as a dream read it. Hash covers all that was read.
type Day struct {
	Date string `json:"date"`
	Hash string `json:"hash"`
}

// DreamFinishedPayload records the end of a dream.
type DreamFinishedPayload struct {
	// Ordinal counts the scope's finished dreams from 1.
	Ordinal int `json:"ordinal"`
	// Date is the day for which it was dreamt: the name of the diary.
	Date   string      `json:"date"`
	Status DreamStatus `json:"status"`
	// Reason explains to a person why the dream was refused.
	Reason string `json:"reason,omitempty"`
	// Parent is the version that the dream began from. Version is the version that it made, 0 for none.
	Parent  int    `json:"parent"`
	Version int    `json:"version,omitempty"`
	Diary   string `json:"diary,omitempty"`
	// Days are the days that were read. They count as read unless the dream was refused.
	Days []Day `json:"days"`
	// Gathered is the id of the event with the input of the dream, and Responses are the keys of the model's answers.
	Gathered  string   `json:"gathered"`
	Model     string   `json:"model"`
	Responses []string `json:"responses,omitempty"`
	// Carried counts the items that stayed because the answer left them out without a valid reason.
	Carried int `json:"carried"`
	// LeftOut counts the statements of the days that core memory has no room for.
	LeftOut int `json:"left_out,omitempty"`
	// Dropped are the dropped items. It is empty if the dream made a version, which then lists them.
	Dropped []DroppedItem `json:"dropped,omitempty"`
	Usage   Usage         `json:"usage"`
	// Metrics are the steps before the commit.
	Metrics []StepMetric `json:"metrics,omitempty"`
}

// Remains removes the text of a dream that read erased content. Its days count as unread, so that the next dream reads
// their remainder.
func (p DreamFinishedPayload) Remains(f Forgetting) Remainder {
	said := f.Says(p.Diary) || f.Says(p.Reason) ||
		slices.ContainsFunc(p.Dropped, func(d DroppedItem) bool {
			return f.Says(d.Text) || f.Says(d.By) || f.Says(d.Detail) || slices.ContainsFunc(d.Sources, f.Names)
		}) ||
		slices.ContainsFunc(p.Metrics, func(m StepMetric) bool { return f.Says(m.Error) })
	if p.Gathered == "" || !said && !f.Names(p.Gathered) { // A dream without its input has lost its text before.
		return Remainder{}
	}
	if p.Diary != "" {
		touch(f, RecordDiary, p.Date)
	}
	p.Diary, p.Reason, p.Gathered, p.Responses, p.Dropped, p.Days = "", "", "", nil, nil, []Day{}
	if p.Status == DreamIsRefused {
		p.Reason = ForgottenText
	}
	p.Metrics = slices.Clone(p.Metrics)
	for i := range p.Metrics {
		p.Metrics[i].Error = ""
	}
	return Remainder{Payload: p}
}

// AnswerKeys returns those of the model's answers.
func (p DreamFinishedPayload) AnswerKeys() []string { return p.Responses }

// SourceKind is a kind of source of core memory.
type SourceKind string

// Kinds of sources: a block of a daily record, a daily record that a person edited, a proven entry and a fact.
const (
	SourceRecord SourceKind = "record"
	SourceEdited SourceKind = "edited"
	SourceEntry  SourceKind = "entry"
	SourceFact   SourceKind = "fact"
)

// SourceText is the text of a source.
type SourceText struct {
	// ID is the id of the event, the entry or the fact.
	ID   string     `json:"id"`
	Kind SourceKind `json:"kind"`
	// Heading is the one of [CoreHeadings] that fits the text, or empty if it is unknown.
	Heading string `json:"heading,omitempty"`
	Text    string `json:"text"`
	// Worth is the confidence of the entry or fact, or nil if no one judged it.
	Worth *float64 `json:"worth,omitempty"`
	// Turns is true if the lines are from a conversation and state nothing by themselves.
	Turns bool `json:"turns,omitempty"`
}

// GatheredDay is all that a dream reads of one day, in order.
type GatheredDay struct {
	Day
	// Record is the daily record as in its file, without the header. It contains the texts of the sources of the kinds
	// record and edited.
	Record  string       `json:"record,omitempty"`
	Sources []SourceText `json:"sources"`
}

// DreamGatheredPayload is the whole input of a dream, except for the model's answers. Together they determine its
// result.
type DreamGatheredPayload struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
	// Ordinal is that of the dream, and Date the day for which it is dreamt.
	Ordinal int    `json:"ordinal"`
	Date    string `json:"date"`
	// Version is the version of core memory that the dream begins from, 0 for none, and Memory its items.
	Version int        `json:"version"`
	Memory  []CoreItem `json:"memory"`
	// Days are the days that are read, the newest first. Those without a source are left out. First is the first day of
	// the lookback.
	First string        `json:"first,omitempty"`
	Days  []GatheredDay `json:"days"`
}

// TierChange is the payload of an event that changes a tier of memory.
type TierChange interface{ tier() }

func (ContextFlushedPayload) tier() {}
func (RecordEditedPayload) tier()   {}
func (CoreCommittedPayload) tier()  {}
func (DreamFinishedPayload) tier()  {}
