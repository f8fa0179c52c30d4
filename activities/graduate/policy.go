package graduate

import (
	"fmt"
	"time"

	"axiommind/schema"
)

// PolicyVersion is the version of the rules of promotion and belief. A change of any rule needs a new version.
const PolicyVersion = 5

// reaches reports whether the stage is at least the other one.
func reaches(stage, other schema.Stage) bool { return stage.Rank() >= other.Rank() }

// below returns the next lower stage.
func below(stage schema.Stage) schema.Stage {
	if rank := stage.Rank(); rank > 1 {
		return schema.Stages()[rank-2]
	}
	return stage
}

const day = 24 * time.Hour

// halfLives has the time that entries keep a stage unless they are stated or confirmed again. A stage without one is
// kept for good.
var halfLives = map[schema.Stage]time.Duration{
	schema.StageCertified: 360 * day,
	schema.StageVerified:  180 * day,
	schema.StageCandidate: 90 * day,
}

// lasting has factors for the half-life of some types: a decision holds until the next one, and a reference until it
// moves.
var lasting = map[schema.EntryType]int{schema.EntryDecision: 2, schema.EntryReference: 2}

// HalfLife returns how long an entry of the type keeps the stage, or false if it keeps the stage for good.
func HalfLife(stage schema.Stage, of schema.EntryType) (time.Duration, bool) {
	life, ok := halfLives[stage]
	if times := lasting[of]; times > 0 {
		life *= time.Duration(times)
	}
	return life, ok
}

// shortestLife is the shortest half-life of all.
func shortestLife() time.Duration {
	shortest := time.Duration(0)
	for _, life := range halfLives {
		if shortest == 0 || life < shortest {
			shortest = life
		}
	}
	return shortest
}

// aging is the input of the rule of half-lives.
type aging struct {
	stage schema.Stage
	of    schema.EntryType
	// occurred is the time of the statement, and restated that of the latest entry that says the same. confirmed and
	// demotedAt are the times of the last confirmation and demotion. Zero means never.
	occurred, restated, confirmed, demotedAt time.Time
}

// last returns the start of the half-life and a word for the event at that time.
func (a aging) last() (time.Time, string) {
	at, what := a.occurred, "stated"
	for _, later := range []struct {
		at   time.Time
		what string
	}{{a.restated, "stated again"}, {a.confirmed, "confirmed"}, {a.demotedAt, "demoted"}} {
		if later.at.After(at) {
			at, what = later.at, later.what
		}
	}
	return at, what
}

// demotion returns the stage that the entry is demoted to at the time, and why. One demotion is one stage.
func (a aging) demotion(now time.Time) (to schema.Stage, reason string, ok bool) {
	life, ages := HalfLife(a.stage, a.of)
	if !ages {
		return a.stage, "", false
	}
	at, what := a.last()
	if !now.After(at.Add(life)) {
		return a.stage, "", false
	}
	return below(a.stage), fmt.Sprintf("half-life: last %s on %s, and %s %s lasts %d days",
		what, at.UTC().Format(time.DateOnly), a.stage, a.of, life/day), true
}

// certifying is the input of the rule of certification.
type certifying struct {
	stage  schema.Stage
	status schema.Status
	// confirmedBy is the person who confirmed the entry, or empty.
	confirmedBy string
	// sources are the ids of the verified entries of other sessions that say the same in the same words, each from a
	// message of its own.
	sources []string
}

// certifies returns why the entry is certified, or false if it is not.
func (c certifying) certifies() (reasons []string, ok bool) {
	if c.status != schema.StatusActive || reaches(c.stage, schema.StageCertified) {
		return nil, false
	}
	if c.confirmedBy != "" {
		reasons = append(reasons, "certified: confirmed by "+c.confirmedBy)
	}
	if n := len(c.sources); n > 0 && reaches(c.stage, schema.StageVerified) {
		reasons = append(reasons, fmt.Sprintf("certified: %s in another session from another source",
			count(n, "verified entry says the same", "verified entries say the same")))
	}
	return reasons, len(reasons) > 0
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
