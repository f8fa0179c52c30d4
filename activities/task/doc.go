// Package task turns what sessions say of tasks into events, and the events into tasks, what blocks
// them, and answers about both.
//
// A task, a condition or an artifact is an entity: the fold of its events in the project's stream
// and of nothing else. [Plan] resolves entries and [PlanCommand] a person's wish against an [Index],
// and return events; [Writer] appends and projects them; [Projector] writes the tables from folds,
// so that they can be dropped and rebuilt to the same rows; [Queries] answers from the tables, or,
// as of a time, from the fold itself.
//
// Time never decides order, the position in the stream does. What an entry does is keyed by the
// entry: the same session again changes nothing, and a task that is blocked twice in one session is
// blocked twice.
package task
