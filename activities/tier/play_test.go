package tier

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// stage is a memory with its activities on a database and a directory of its own.
type stage struct {
	*Activities
	model *scriptedModel
	dir   string
	clock time.Time
}

func newStage(t testing.TB, answer func(llm.Request) (string, llm.FinishReason, error)) *stage {
	t.Helper()
	conn := stacktest.Migrated(t)
	log := projection.New(conn, eventlog.Options{})
	s := &stage{model: &scriptedModel{answer: answer}, dir: t.TempDir(), clock: time.Date(2026, 6, 7, 23, 55, 0, 0, time.UTC)}
	root, err := OpenRoot(t.Context(), s.dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, root.Close()) })
	s.Activities = &Activities{
		log: log, conn: conn, tables: NewTables(conn), projector: NewProjector(conn), archive: llm.NewArchive(log.Store, s.model), root: root,
		opts: Options{Zone: time.UTC, WindowBytes: llm.DefaultWindowBytes}, gatherBytes: maxGatheredBytes, labels: English,
	}
	return s
}

// sync records edits and writes the files of the default user.
func (s *stage) sync(ctx context.Context) error {
	_, err := s.syncFiles(ctx, FilesInput{User: defaultUser, At: s.clock, All: true})
	return err
}

// dream does the steps of the workflow, one after the other.
func (s *stage) dream(ctx context.Context, in schema.DeepDreamInput) (schema.DeepDreamResult, error) {
	in.User, in.At = defaultUser, s.clock
	if err := s.sync(ctx); err != nil {
		return schema.DeepDreamResult{}, err
	}
	gathered, err := s.gatherDream(ctx, GatherInput{DeepDreamInput: in})
	if err != nil || gathered.Skipped != "" {
		return schema.DeepDreamResult{Status: schema.DreamSkipped, Reason: gathered.Skipped, Version: gathered.Version}, err
	}
	commit := CommitInput{User: in.User, Gathered: gathered.EventID, Model: gathered.Model, At: s.clock}
	if err := s.answers(ctx, &commit); err != nil {
		return schema.DeepDreamResult{}, err
	}
	result, err := s.commitDream(ctx, commit)
	if err != nil {
		return schema.DeepDreamResult{}, err
	}
	return result.DeepDreamResult, s.sync(ctx)
}

// answers asks the questions of a dream, those of the last level once more if their answers are of no use.
func (s *stage) answers(ctx context.Context, commit *CommitInput) error {
	var keys []string
	for level := 0; ; level++ {
		plan, err := s.planDream(ctx, PlanInput{Gathered: commit.Gathered, Level: level, Answers: keys})
		if err != nil || plan.Done {
			commit.Refused = plan.Refused
			return err
		}
		before := keys
		for again := ""; ; {
			keys, commit.Refused = nil, ""
			for window := range plan.Windows {
				asked, err := s.askDream(ctx, AskInput{Gathered: commit.Gathered, Answers: before, Window: window, Again: again})
				if err != nil {
					return err
				}
				keys = append(keys, asked.Key)
				if asked.Useless != "" {
					commit.Refused = asked.Useless
				}
			}
			if plan.Last && commit.Refused == "" {
				judged, err := s.planDream(ctx, PlanInput{Gathered: commit.Gathered, Answers: keys, Last: true})
				if err != nil {
					return err
				}
				commit.Refused = judged.Refused
			}
			if commit.Refused == "" || again != "" {
				break
			}
			again = commit.Refused
		}
		if plan.Last || commit.Refused != "" {
			commit.Responses = keys
			return nil
		}
	}
}

// write writes a file below the root, as a person does.
func (s *stage) write(path, text string) error {
	path = filepath.Join(s.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// files returns the texts of all files below the root, by path.
func (s *stage) files() (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.dir, path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	return files, err
}
