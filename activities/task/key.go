package task

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"axiommind/activities/boundary"
	language "axiommind/activities/text"
	"axiommind/schema"
)

// ErrKey is wrapped by every error about an invalid canonical key or about a text without a key.
var ErrKey = boundary.Invalid(schema.ErrorInvalidInput, errors.New("invalid canonical key"))

// Key is a canonical key in parts. Its text form is one of
//
//	task:{project}:{name}
//	cond:{project}:{name}
//	art:{kind}:{name}
//
// where the project's colons and percent signs are percent-encoded, so that no project can reach
// into a name. Entities of equal keys are one entity.
type Key struct {
	Type schema.EntityType
	// Project is empty for artifacts, which are shared by all projects.
	Project string
	// Kind is set for artifacts only.
	Kind schema.ArtifactKind
	Name string
}

// MaxTitle is the maximum length of a stored title, in runes.
const MaxTitle = 10_000

const (
	taskPrefix      = "task:"
	conditionPrefix = "cond:"
	artifactPrefix  = "art:"
	// maxName is the maximum length of a name within a key, in runes. A longer name is cut and ends in its hash,
	// after a mark in upper case that no normalized text contains.
	maxName  = 256
	hashMark = "…SHA256="
	// placeholderMark is the prefix of the name of a condition that represents an unknown blocker.
	placeholderMark = "UNKNOWN="
)

// KeyOfTask returns the key of the task with the title.
func KeyOfTask(project, title string) (Key, error) {
	return titleKey(schema.EntityTask, project, title)
}

// KeyOfCondition returns the key of the condition with the text.
func KeyOfCondition(project, text string) (Key, error) {
	return titleKey(schema.EntityCondition, project, text)
}

func titleKey(entityType schema.EntityType, project, title string) (Key, error) {
	k := Key{Type: entityType, Project: project, Name: shorten(language.Title(title))}
	return k, k.validate()
}

// spellingKey returns the key that all spellings of a condition's text share. See [language.SameTitle].
func spellingKey(project, text string) (Key, bool) {
	k, err := KeyOfCondition(project, language.TitleWords(text))
	return k, err == nil
}

// placeholderKey returns the key of the condition that represents the unknown blocker of a task.
func placeholderKey(project, taskID string) Key {
	return Key{Type: schema.EntityCondition, Project: project, Name: placeholderMark + taskID}
}

func shorten(name string) string {
	if utf8.RuneCountInString(name) <= maxName {
		return name
	}
	return string([]rune(name)[:maxName]) + hashMark + schema.HashText(name)
}

func plainKey(text string) Key {
	return Key{Type: schema.EntityArtifact, Kind: schema.ArtifactPlain, Name: schema.HashText(language.Title(text))}
}

// ID returns the id of the entity with the key.
func (k Key) ID() string { return schema.EntityID(k.String()) }

// String returns the text form.
func (k Key) String() string {
	switch k.Type {
	case schema.EntityTask:
		return taskPrefix + escapeProject(k.Project) + ":" + k.Name
	case schema.EntityCondition:
		return conditionPrefix + escapeProject(k.Project) + ":" + k.Name
	default:
		return artifactPrefix + string(k.Kind) + ":" + k.Name
	}
}

// ParseKey parses the text form. It accepts exactly the results of [Key.String] for valid keys.
func ParseKey(text string) (Key, error) {
	prefix, rest, ok := strings.Cut(text, ":")
	second, name, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 {
		return Key{}, fmt.Errorf("parse key %q: %w: want three parts", text, ErrKey)
	}
	k := Key{Name: name}
	switch prefix + ":" {
	case taskPrefix:
		k.Type = schema.EntityTask
	case conditionPrefix:
		k.Type = schema.EntityCondition
	case artifactPrefix:
		k.Type, k.Kind = schema.EntityArtifact, schema.ArtifactKind(second)
		return k, k.validate()
	default:
		return Key{}, fmt.Errorf("parse key %q: %w: unknown prefix", text, ErrKey)
	}
	k.Project = unescapeProject.Replace(second)
	if escapeProject(k.Project) != second {
		return Key{}, fmt.Errorf("parse key %q: %w: project is not in its encoded form", text, ErrKey)
	}
	return k, k.validate()
}

func (k Key) validate() error {
	switch {
	case strings.TrimSpace(k.Name) == "":
		return fmt.Errorf("key of a %s: %w: no letter, digit or symbol in it", k.Type, ErrKey)
	case !utf8.ValidString(k.Name) || !utf8.ValidString(k.Project):
		return fmt.Errorf("key of a %s: %w: not UTF-8", k.Type, ErrKey)
	case k.Type == schema.EntityArtifact:
		return k.validateArtifact()
	case strings.TrimSpace(k.Project) == "":
		return fmt.Errorf("key of a %s: %w: no project", k.Type, ErrKey)
	}
	return nil
}

func (k Key) validateArtifact() error {
	valid := false
	switch k.Kind {
	case schema.ArtifactURL, schema.ArtifactPlain:
		valid = len(k.Name) == 2*sha256.Size && strings.Trim(k.Name, "0123456789abcdef") == ""
	case schema.ArtifactJira:
		valid = jiraKey.MatchString(k.Name)
	case schema.ArtifactGitHubIssue, schema.ArtifactGitHubPull:
		valid = gitHubName.MatchString(k.Name)
	}
	if !valid {
		return fmt.Errorf("key of an artifact: %w: %q is no %q", ErrKey, k.Name, k.Kind)
	}
	return nil
}

func escapeProject(project string) string {
	return strings.NewReplacer("%", "%25", ":", "%3A").Replace(project)
}

var unescapeProject = strings.NewReplacer("%25", "%", "%3A", ":")
