package service_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/worker/service"
)

// Every field of the configuration has a line in the list, except keys and the fields that programs and tests set.
func TestEverySettingIsListed(t *testing.T) {
	t.Parallel()
	var cfg service.Config
	var into []uintptr
	for _, s := range cfg.Settings() {
		require.NotEmpty(t, s.Usage, s.Name)
		if v := reflect.ValueOf(s.Into); v.Kind() == reflect.Pointer {
			into = append(into, v.Pointer())
		}
	}
	checked := []string{"ModelReads", "ModelRate", "DoneReports", "Facts", "BuildID", "Deployment", "WeaviateIdle", "WeaviateIdleState", "WeaviateReplicas", "UsageDays", "MaxPollers"} // by a func
	keys := []string{"APIKey", "KeyVariable", "TemporalAPIKey", "WeaviateAPIKey", "Secret"}
	loaded := []string{"Timing", "RefusedTimeout", "SecretFiles", "State", "EmbedderByDefault", "Gemini", "BatchSize", "sources", "flags", "getenv", "TemporalTraces", "TemporalMetrics", "Appended"}
	none := slices.Concat(checked, keys, loaded)
	var missing []string
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		for i := range v.NumField() {
			name, f := v.Type().Field(i).Name, v.Field(i)
			switch {
			case slices.Contains(none, name) || slices.Contains(into, f.Addr().Pointer()) && f.Kind() != reflect.Struct:
			case f.Kind() == reflect.Struct:
				walk(f)
			default:
				missing = append(missing, name)
			}
		}
	}
	walk(reflect.ValueOf(&cfg).Elem())
	require.Empty(t, missing, "add a line to Config.Settings for each field")
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Flags(flags)
	cfg.WorkerFlags(flags)
	for _, s := range cfg.Settings() {
		require.NotNil(t, flags.Lookup(s.Name), s.Name)
	}
}

// A project is idle after a minute or more, and never by a negative time.
func TestIdleBounds(t *testing.T) {
	t.Parallel()
	for value, ok := range map[string]bool{"720h": true, "0": true, "1m": true, "-720h": false, "59s": false, "month": false} {
		var cfg service.Config
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		cfg.WorkerFlags(f)
		if err := f.Set("weaviate-idle", value); ok {
			require.NoError(t, err, value)
		} else {
			require.ErrorContains(t, err, "want a time of 1m0s or longer, such as 720h, or 0 for never", value)
		}
	}
}
