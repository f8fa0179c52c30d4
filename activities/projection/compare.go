package projection

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"

	"golang.org/x/sync/errgroup"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

const (
	// maxExamples is how many rows of a difference are named, and maxExampleKey how long the name may be.
	maxExamples   = 3
	maxExampleKey = 400
)

// Compare compares the old and the new rows of a table, as they were when writers waited for the switch.
// SwitchOptions.Compare must have been set.
func (sh *Shadow) Compare(ctx context.Context, t Table, generation uint64) (schema.RebuiltTable, error) {
	out := schema.RebuiltTable{Name: t.Name, Before: &Digest{}, After: &Digest{}}
	kept := New(sh.Conn, sh.current.opts)
	then, now := t, t
	then.Name, now.Name = backupTable("before", t.Name, generation), backupTable("after", t.Name, generation)
	var err error
	if *out.Before, err = kept.Digest(ctx, then); err != nil {
		return out, err
	}
	if *out.After, err = kept.Digest(ctx, now); err != nil {
		return out, err
	}
	out.Rows = out.After.Rows
	if *out.Before != *out.After {
		out.Difference, err = compareRows(kept.RowHashes(ctx, then), kept.RowHashes(ctx, now))
	}
	return out, err
}

// Count counts the rows of a table that a projector wrote.
func (s *Store) Count(ctx context.Context, t Table) (n uint64, err error) {
	sql, args := t.rows()
	if err := s.db.Conn.QueryRow(ctx, "SELECT count() FROM ("+sql+")", args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count rows of table %q: %w", t.Name, err)
	}
	return n, nil
}

// compareRows goes through the rows of then and now side by side. Both are in the order of their keys.
func compareRows(then, now iter.Seq2[RowHash, error]) (*schema.TableDifference, error) {
	d := &schema.TableDifference{}
	next, stop := iter.Pull2(then)
	defer stop()
	before, err, there := next()
	if err != nil {
		return nil, err
	}
	advance := func() error {
		before, err, there = next()
		return err
	}
	for after, err := range now {
		if err != nil {
			return nil, err
		}
		for there && before.Key < after.Key {
			addExample(d, &d.OnlyBefore, "only before", before.Key)
			if err := advance(); err != nil {
				return nil, err
			}
		}
		if !there || before.Key > after.Key {
			addExample(d, &d.OnlyAfter, "only after", after.Key)
			continue
		}
		if before.Hash != after.Hash {
			addExample(d, &d.Changed, "changed", after.Key)
		}
		if err := advance(); err != nil {
			return nil, err
		}
	}
	for there {
		addExample(d, &d.OnlyBefore, "only before", before.Key)
		if err := advance(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func addExample(d *schema.TableDifference, counter *int, what, key string) {
	*counter++
	if *counter <= maxExamples {
		if len(key) > maxExampleKey {
			key = strings.ToValidUTF8(key[:maxExampleKey], "") + "…"
		}
		d.Examples = append(d.Examples, schema.RowExample{Kind: what, Key: key})
	}
}

// backUpAll copies the rows of the tables in use and of the shadow tables.
func (sh *Shadow) backUpAll(ctx context.Context, names []string, number uint64) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(tablesAtOnce)
	for _, name := range names {
		group.Go(func() error { return sh.backUp(ctx, clickhouse.Identifier(name), backupTable("before", name, number)) })
		group.Go(func() error { return sh.backUp(ctx, sh.table(name), backupTable("after", name, number)) })
	}
	return group.Wait()
}

// backUpBegan reports whether an earlier attempt at the switch has copied a table.
func (sh *Shadow) backUpBegan(ctx context.Context, number uint64) (bool, error) {
	tables, err := sh.current.tablesOf(ctx, sh.Database)
	for name := range tables {
		if strings.HasSuffix(name, fmt.Sprintf("_%d", number)) && (strings.HasPrefix(name, "before_") || strings.HasPrefix(name, "after_")) {
			return true, err
		}
	}
	return false, err
}

func backupTable(when, name string, number uint64) string {
	return fmt.Sprintf("%s_%s_%d", when, name, number)
}

// backUp copies the rows of a table as they are now. The copy shares the files of the original, so it is made at once. A
// copy that is there stays: an attempt that comes late may find other rows.
func (sh *Shadow) backUp(ctx context.Context, from, to string) error {
	own := fmt.Sprintf("%s_%d", to, rand.Uint64())
	for _, statement := range []string{
		"CREATE TABLE " + sh.table(own) + " AS " + from,
		"ALTER TABLE " + sh.table(own) + " ATTACH PARTITION ID 'all' FROM " + from,
		"RENAME TABLE " + sh.table(own) + " TO " + sh.table(to),
	} {
		if err := sh.Home.Exec(ctx, statement); err != nil && !clickhouse.HasCode(err, clickhouse.CodeTableExists) {
			return fmt.Errorf("keep the rows of %s: %w", from, err)
		}
	}
	return nil
}
