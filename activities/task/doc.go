// Package task turns the task notes of sessions into events, and the events into tasks and their blockers. It answers
// queries about both.
//
// A task, a condition or an artifact is an entity. An entity is the fold of its events in the project's stream, and
// depends only on them. [Plan] resolves the entries of sessions against an [Index], and [PlanCommand] a person's
// command. Both return events. [Writer] appends and projects the events. [Projector] writes the tables from the folds,
// so that dropped tables can be rebuilt to the same rows. [Queries] answers from the tables, or from the fold for an
// earlier time.
//
// The position in the stream decides the order of events, never their time. The changes that an entry makes are keyed
// by the entry: processing the same session again changes nothing, and a task that is blocked twice in one session is
// blocked twice.
package task
