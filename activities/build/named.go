package build

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// namedBuild is a build that a person has named by its id, or by the beginning of one.
type namedBuild struct {
	// id is the whole id, or the given text if that names no build.
	id string
	// problem says why it names none.
	problem string
}

// resolve finds the whole ids of the builds that are named.
func (s Selection) resolve(ctx context.Context) ([]namedBuild, error) {
	given := make([]clickhouse.Prefix, len(s.By.Builds))
	var prefixes []string
	for i, id := range s.By.Builds {
		given[i] = clickhouse.Prefix{Given: id, NotFound: ErrNotFound}
		if isPrefix(given[i]) {
			prefixes = append(prefixes, given[i].Text())
		}
	}
	slices.Sort(prefixes)
	found, err := withPrefixes(ctx, s.Conn, slices.Compact(prefixes))
	if err != nil {
		return nil, err
	}
	builds := make([]namedBuild, len(given))
	for i, p := range given {
		if len(p.Text()) == idLength {
			builds[i].id = p.Text()
		} else if builds[i].id, err = p.Pick(found[p.Text()]); err != nil {
			builds[i] = namedBuild{p.Given, err.Error()}
		}
	}
	return builds, nil
}

// idLength is the length of a build's id.
const idLength = len(uuid.UUID{})*2 + 4

// isPrefix reports whether the text can be the beginning of an id, and is long enough to be looked for.
func isPrefix(p clickhouse.Prefix) bool { return p.Long() && len(p.Text()) < idLength }

// withPrefixes returns the ids that begin with each of the prefixes, up to [clickhouse.MostPrefixed] of them.
func withPrefixes(ctx context.Context, conn driver.Conn, prefixes []string) (map[string][]string, error) {
	found := map[string][]string{}
	if len(prefixes) == 0 {
		return found, nil
	}
	err := clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
		var prefix, id string
		err := rows.Scan(&prefix, &id)
		found[prefix] = append(found[prefix], id)
		return err
	}, fmt.Sprintf(`SELECT prefix, build_id FROM
		(SELECT arrayJoin(arrayFilter(p -> startsWith(build_id, p), ?)) AS prefix, build_id FROM build_runs)
		ORDER BY prefix, build_id LIMIT %d BY prefix`, clickhouse.MostPrefixed), prefixes)
	if err != nil {
		return nil, fmt.Errorf("find builds by the beginning of their ids: %w", err)
	}
	return found, nil
}

// named reads a page of the builds that were named. The cursor counts them.
func (s Selection) named(ctx context.Context, builds []namedBuild, after string) ([]Candidate, error) {
	from := 0
	if after != "" {
		var err error
		if from, err = strconv.Atoi(after); err != nil || from < 0 || from > len(builds) {
			return nil, fmt.Errorf("cursor %q: want a number from 0 to %d", after, len(builds))
		}
	}
	page := builds[from:min(from+s.page, len(builds))]
	ids := make([]string, len(page))
	for i, b := range page {
		ids[i] = b.id
	}
	runs, err := readRuns(ctx, s.Conn, "build_id IN ?", ids)
	if err != nil {
		return nil, err
	}
	byID := map[string]Run{}
	var sessions []schema.SessionKey
	for _, r := range runs {
		byID[r.BuildID] = r
		sessions = append(sessions, r.SessionKey)
	}
	latest, err := Latest(ctx, s.Conn, sessions)
	if err != nil {
		return nil, err
	}
	out := make([]Candidate, len(page))
	for i, b := range page {
		r, known := byID[b.id]
		out[i] = Candidate{Run: r, Cursor: strconv.Itoa(from + i + 1), latest: latest[r.SessionKey], LeftAlone: b.problem}
		if !known {
			out[i].BuildID = b.id
		}
		switch {
		case !known && b.problem == "":
			out[i].LeftAlone = ErrNotFound.Error()
		case slices.IndexFunc(builds, func(one namedBuild) bool { return one.id == b.id }) < from+i:
			out[i].LeftAlone = "it is named twice"
		}
	}
	return out, nil
}
