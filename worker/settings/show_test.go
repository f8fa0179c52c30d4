package settings_test

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/worker/settings"
)

// A password is hidden wherever a person may write it, even where it is not escaped.
func TestMask(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "",
		"h:8123":                        "h:8123",
		"h:8123/db?password=sesame&a#b": "h:8123/db?password=***",
		"/home/a@b/keys":                "/home/a@b/keys",
		"http://h:8123/db":              "http://h:8123/db",
		"http://ann@h/db":               "http://***@h/db",
		"http://ann:@h/db":              "http://***@h/db",
		"http://ann:sesame@h:1/db":      "http://ann:***@h:1/db",
		"http://ann:ses:ame@h1,h2:1/db": "http://ann:***@h1,h2:1/db",
		"http://ann:sesame@same@h/db":   "http://ann:***@h/db",
		"http://ann:ses/ame@h/db":       "http://***",
		"http://ann:1#same@h/db":        "http://***",
		"http://ann:1?same@h/db":        "http://***",
		"http://h/db?mail=a@sesame":     "http://***",
		"http://h/db?password=sesame&secure=true#sesame": "http://h/db?password=***&secure=***",
		"http://ann:sesame@h/db?a=sesame#b":              "http://***",
		"http://h/db?sesame":                             "http://h/db",
		"http://h/#sesame":                               "http://h/",
		"http://h/#sesame?sesame=sesame":                 "http://h/",
		"ann:sesame@h://x":                               "***",
		"ann:sesame@h:1":                                 "***",
		"s3://bucket/path?region=eu":                     "s3://bucket/path?region=***",
	} {
		require.Equal(t, want, settings.Mask(text, false), text)
	}
	require.Equal(t, "https://h:1/***", settings.Mask("https://h:1/T0/sesame?a=sesame", true))
	require.Equal(t, "https://***", settings.Mask("https://h:1/T0/sesame@h", true))
	require.Equal(t, "***", settings.Mask("sesame", true))
}

func TestMaskAnything(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"http://u:", "https://h/?k=", "http://h/?a=b&k=", "http://h/#", "http://u:x@h/?", "u:", "clickhouse://u:1:"} {
		for _, after := range []string{"", "@h", "@h/db", "/@h", "?@h", "#@h:1/db?a=b", "&x=@h"} {
			if before == "u:" || before == "http://u:" || before == "clickhouse://u:1:" {
				after += "@h"
			}
			require.NotContains(t, settings.Mask(before+"sesame"+after, false), "sesame", before+after)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	var roots []string
	var size int
	list := []settings.Setting{
		{Name: "root", Into: &roots}, {Name: "size", Into: &size, Absent: "the `model`'s"}, {Name: "absent", Into: &size},
	}
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	settings.Add(f, list[:2])
	require.NoError(t, f.Parse([]string{"--root", "/a", "--root", "http://u:sesame@h"}))
	sources, err := settings.File{}.Fill(f, func(string) string { return "" })
	require.NoError(t, err)
	shown := settings.Show(f, list, sources)
	require.Equal(t, []settings.Effective{
		{Name: "root", Value: "/a:http://u:***@h", Source: "flag --root"},
		{Name: "size", Source: settings.SourceDefault, Absent: "the model's"},
	}, shown)
	require.Equal(t, "(the model's)", shown[1].Text())
	require.Equal(t, "(none)", settings.Effective{}.Text())
}
