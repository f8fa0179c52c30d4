package clickhouse

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Purposes of scratch databases: of rebuilds, and of replays of builds.
const (
	PurposeRebuild = "rebuild"
	PurposeReplay  = "replay"
)

// Scratch is a temporary database on the server of the one in use, with the same tables. A program makes rows there
// that no other program reads, and drops it.
type Scratch struct {
	// Conn is a connection to the database, and Database its name.
	Conn     driver.Conn
	Database string
	// Home is the connection to the database in use.
	Home driver.Conn

	note scratchNote
}

// ScratchKey identifies a scratch database among those of one database.
type ScratchKey struct {
	// Purpose is a word of [a-z_]. ID is any text.
	Purpose, ID string
}

// scratchNote is the comment of a scratch database. It distinguishes it from a database of other origin, whatever that
// is called.
type scratchNote struct {
	// Of is the database that the scratch database belongs to.
	Of      string `json:"axiommind_scratch_of"`
	Purpose string `json:"purpose"`
	ID      string `json:"id"`
	// Used is the last time when a program marked the database as in use, in seconds since 1970 by the server's clock.
	Used int64 `json:"used"`
}

// OpenScratch makes the scratch database of the connection's database with the key, or opens the one that is there,
// with all of the program's tables and views. The connection must be a [Neighbor]. The caller calls [Scratch.Use] from
// time to time, and [Scratch.Drop] or [Scratch.Close] at the end.
func OpenScratch(ctx context.Context, conn driver.Conn, key ScratchKey) (*Scratch, error) {
	s, err := MakeScratch(ctx, conn, key)
	if err != nil {
		return nil, fmt.Errorf("make scratch database of %q: %w", key.Purpose, err)
	}
	if _, err := Migrate(ctx, s.Conn); err != nil {
		_ = s.Conn.Close()
		return nil, fmt.Errorf("make tables of scratch database %q: %w", s.Database, err)
	}
	if err := s.keepUsage(ctx); err != nil {
		_ = s.Conn.Close()
		return nil, fmt.Errorf("make tables of scratch database %q: %w", s.Database, err)
	}
	return s, nil
}

// keepUsage has the table of usage keep its rows as long as the one in use, which it may replace.
func (s *Scratch) keepUsage(ctx context.Context) error {
	days, there, err := keptDays(ctx, s.Home)
	if err != nil || !there {
		return err
	}
	if _, err := keepUsage(ctx, s.Conn, days); !HasCode(err, CodeUnknownTable) { // A rebuild may be exchanging it.
		return err
	}
	return nil
}

// MakeScratch is [OpenScratch] without the tables and views.
func MakeScratch(ctx context.Context, conn driver.Conn, key ScratchKey) (*Scratch, error) {
	neighbor, ok := conn.(Neighbor)
	if !ok {
		return nil, fmt.Errorf("connection %T cannot open another one", conn)
	}
	home, now, err := databaseAndTime(ctx, conn)
	if err != nil {
		return nil, err
	}
	s := &Scratch{
		Database: ScratchDatabase(home, key), Home: conn,
		note: scratchNote{Of: home, Purpose: key.Purpose, ID: key.ID, Used: now},
	}
	// The comment comes with the database, so that one whose program was killed at once is known, too.
	if err := conn.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+Identifier(s.Database)+" COMMENT "+s.note.literal()); err != nil {
		return nil, err
	}
	if err := s.Use(ctx); err != nil {
		return nil, err
	}
	s.Conn, err = neighbor.Neighbor(ctx, s.Database)
	return s, err
}

// databaseAndTime returns the connection's database and the server's time.
func databaseAndTime(ctx context.Context, conn driver.Conn) (database string, now int64, err error) {
	err = conn.QueryRow(ctx, "SELECT currentDatabase(), toInt64(toUnixTimestamp(now()))").Scan(&database, &now)
	return database, now, err
}

// NamedScratch names the scratch database of the connection's database with the key, whether it is there or not. It has no
// connection of its own.
func NamedScratch(ctx context.Context, conn driver.Conn, key ScratchKey) (*Scratch, error) {
	home, _, err := databaseAndTime(ctx, conn)
	return &Scratch{Database: ScratchDatabase(home, key), Home: conn}, err
}

// Use marks the database as in use: for a while no program takes it for a leftover.
func (s *Scratch) Use(ctx context.Context) error {
	if err := s.Home.QueryRow(ctx, "SELECT toInt64(toUnixTimestamp(now()))").Scan(&s.note.Used); err != nil {
		return fmt.Errorf("use scratch database %q: %w", s.Database, err)
	}
	if err := s.Home.Exec(ctx, "ALTER DATABASE "+Identifier(s.Database)+" MODIFY COMMENT "+s.note.literal()); err != nil {
		return fmt.Errorf("use scratch database %q: %w", s.Database, err)
	}
	return nil
}

// Close closes the connection and leaves the database there, for another program.
func (s *Scratch) Close() error { return s.Conn.Close() }

// Drop drops the database and closes the connection.
func (s *Scratch) Drop(ctx context.Context) error {
	err := dropDatabase(ctx, s.Home, s.Database)
	_ = s.Conn.Close()
	return err
}

// DropScratch drops the scratch database with the key, if it is there.
func DropScratch(ctx context.Context, conn driver.Conn, key ScratchKey) error {
	home, _, err := databaseAndTime(ctx, conn)
	if err != nil {
		return err
	}
	return dropDatabase(ctx, conn, ScratchDatabase(home, key))
}

func dropDatabase(ctx context.Context, conn driver.Conn, name string) error {
	if err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+Identifier(name)+" SYNC"); err != nil {
		return fmt.Errorf("drop scratch database %q: %w", name, err)
	}
	return nil
}

// ScratchInfo is a scratch database that is there.
type ScratchInfo struct {
	ScratchKey
	Database string
	// Unused is the time since a program last marked the database as in use.
	Unused time.Duration
}

// Scratches returns the scratch databases of the connection's database, of all purposes.
func Scratches(ctx context.Context, conn driver.Conn) ([]ScratchInfo, error) {
	home, now, err := databaseAndTime(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("list scratch databases: %w", err)
	}
	var out []ScratchInfo
	err = Select(ctx, conn, func(rows driver.Rows) error {
		var name, comment string
		if err := rows.Scan(&name, &comment); err != nil {
			return err
		}
		var note scratchNote
		if json.Unmarshal([]byte(comment), &note) == nil && note.Of == home && name != home {
			out = append(out, ScratchInfo{
				ScratchKey: ScratchKey{note.Purpose, note.ID}, Database: name,
				Unused: time.Duration(now-note.Used) * time.Second,
			})
		}
		return nil
	}, "SELECT name, comment FROM system.databases WHERE comment LIKE '%axiommind_scratch_of%' ORDER BY name")
	if err != nil {
		return nil, fmt.Errorf("list scratch databases: %w", err)
	}
	return out, nil
}

// DropScratches drops the scratch databases with the purpose that were unused for the time, and returns their names.
// Such databases are leftovers of killed programs.
func DropScratches(ctx context.Context, conn driver.Conn, purpose string, unused time.Duration) ([]string, error) {
	all, err := Scratches(ctx, conn)
	if err != nil {
		return nil, err
	}
	var dropped []string
	for _, s := range all {
		if s.Purpose != purpose || s.Unused < unused {
			continue
		}
		if err := dropDatabase(ctx, conn, s.Database); err != nil {
			return dropped, err
		}
		dropped = append(dropped, s.Database)
	}
	return dropped, nil
}

const (
	// maxPlainID is the length up to which an id is a part of the database's name as it is.
	maxPlainID = 32
	// maxPlainHome is the same limit for the name of the home database, where each byte but letters and digits counts
	// three times, as it does in file names. The longer a database's name is, the shorter those of its tables must be.
	maxPlainHome = 80
	hashLength   = 16
)

var (
	plainID  = regexp.MustCompile(`^[A-Za-z0-9]+$`)
	notPlain = regexp.MustCompile(`[^A-Za-z0-9_]`)
)

// ScratchDatabase returns the name of the scratch database with the key of a database.
func ScratchDatabase(home string, key ScratchKey) string {
	id := key.ID
	if len(id) > maxPlainID || !plainID.MatchString(id) {
		id = "x_" + shortHash(key.ID)
	}
	return ScratchPrefix(home, key.Purpose) + id
}

// ScratchPrefix returns the common prefix of the names of a database's scratch databases for the purpose.
func ScratchPrefix(home, purpose string) string {
	if plain := len(notPlain.ReplaceAllString(home, "")); 3*len(home)-2*plain > maxPlainHome {
		home = notPlain.ReplaceAllString(home[:min(len(home), maxPlainHome/2)], "_") + "_" + shortHash(home)
	}
	return home + "_" + purpose + "_"
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:hashLength]
}

// Identifier quotes the name of a database, table or column.
func Identifier(name string) string { return "`" + escape(name, '`') + "`" }

func (n scratchNote) literal() string {
	text, _ := json.Marshal(n) // Strings and a number: there is always one.
	return Literal(string(text))
}

// Literal quotes a string.
func Literal(text string) string { return "'" + escape(text, '\'') + "'" }

func escape(text string, quote byte) string {
	out := make([]byte, 0, len(text)+2)
	for i := range len(text) {
		if c := text[i]; c == '\\' || c == quote {
			out = append(out, '\\')
		}
		out = append(out, text[i])
	}
	return string(out)
}
