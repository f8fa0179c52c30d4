package tier

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"axiommind/schema"
)

// defaultUser is the user whose files are at the top of the root: see workflows.DefaultUser.
const defaultUser = "default"

// coreFile is the name of the file of core memory.
const coreFile = "MEMORY.md"

// hashDigits is the number of hex digits in the name of a directory that is made for an id.
const hashDigits = 16

// maxStem bounds the part of a directory's name that shows the id. File systems allow 255 bytes.
const maxStem = 100

var (
	madeName = regexp.MustCompile(`-[0-9a-f]{16}$`)
)

// reserved are the names that Windows keeps for devices.
var reserved = []string{
	"con", "prn", "aux", "nul",
	"com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
}

// SafeID returns a safe name for an id: the id itself if it consists of ASCII letters, digits, hyphens and underscores.
// Otherwise every other character becomes a hyphen, and the first 16 hex digits of the id's SHA-256 follow. An id that
// looks like such a name is not safe, so different ids have different names.
func SafeID(id string) string {
	stem := hyphenated(id)
	if stem == id && id != "" && !madeName.MatchString(id) {
		return id
	}
	return stem + "-" + idHash(id)
}

// hyphenated replaces every character that is not safe. One that is no UTF-8 counts as a character for each byte.
func hyphenated(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, id)
}

func idHash(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:hashDigits]
}

// dirName returns the name of the directory of an id. It is [SafeID] for file systems that ignore case, keep names for
// devices and bound their length: different ids have different directories there too.
func dirName(id string) string {
	name := SafeID(id)
	if lower := strings.ToLower(id); name == id && lower == id && len(id) <= maxStem && !slices.Contains(reserved, id) {
		return id
	}
	stem := strings.ToLower(hyphenated(id))
	return stem[:min(len(stem), maxStem)] + "-" + idHash(id)
}

// layout maps the files of one memory to paths below the root.
type layout struct{ user, agent string }

// dir is the directory of the daily records.
func (l layout) dir() string {
	dir := "memory"
	if l.user != defaultUser {
		dir += "/users/" + dirName(l.user)
	}
	if l.agent != "" {
		dir += "/agents/" + dirName(l.agent)
	}
	return dir
}

// core is the path of core memory.
func (l layout) core() string {
	if l.user == defaultUser && l.agent == "" {
		return coreFile
	}
	return l.dir() + "/" + coreFile
}

// dated is the directory of the dated files of a kind.
func (l layout) dated(kind schema.RecordKind) string {
	if kind == schema.RecordDiary {
		return l.dir() + "/dreams"
	}
	return l.dir()
}

// record is the path of a dated file. The date is a date and nothing else.
func (l layout) record(kind schema.RecordKind, date string) (string, error) {
	if !isDate(date) {
		return "", fmt.Errorf("name a file after the date %q: want one such as 2006-01-02", date)
	}
	return l.dated(kind) + "/" + date + ".md", nil
}

func isDate(date string) bool {
	_, err := time.Parse(schema.DateLayout, date)
	return err == nil
}
