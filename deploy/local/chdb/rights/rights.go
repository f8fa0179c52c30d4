// Package rights defines the rights of the one user of the local ClickHouse: it may keep tables and read them, but not
// reach files, programs or other hosts.
package rights

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// User is the name of the user.
const User = "default"

// granted lists all rights of the user. It omits the sources (FILE, URL, S3, REMOTE, …), BACKUP, dictionaries, named
// collections, functions and users, each of which reaches outside.
const granted = "GRANT SHOW, SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP, TRUNCATE, OPTIMIZE, CHECK, " +
	"KILL QUERY, SYSTEM MERGES, SYSTEM TTL MERGES, SYSTEM FLUSH LOGS ON *.*"

// Fixed is a setting that no query may change.
type Fixed struct {
	Name string
	// Value is the value set; the engine's default when empty.
	Value string
}

// EngineFixed are the settings of the pinned engine that open files, reach hosts or run text as
// queries, where the engine asks for no right.
func EngineFixed() []Fixed {
	return []Fixed{
		// These name files that are read.
		{Name: "format_schema"}, {Name: "format_schema_source"},
		{Name: "format_template_resultset"}, {Name: "format_template_row"},
		// A disk may be a web server or a bucket.
		{Name: "merge_tree_disk"}, {Name: "merge_tree_storage_policy"}, {Name: "merge_tree_table_disk"},
		// The rows of an INSERT are not looked at before they run.
		{Name: "input_format_values_interpret_expressions", Value: "0"},
		{Name: "input_format_values_deduce_templates_of_expressions", Value: "0"},
		{Name: "allow_experimental_eval_table_function"}, {Name: "allow_experimental_ai_functions"},
		{Name: "implicit_select"},
	}
}

// UsersXML is the configuration of the user, in the form of ClickHouse's users.xml. Grants are GRANT statements without a
// grantee. They replace the default rights.
func UsersXML(password, network string, fixed []Fixed, grants ...string) []byte {
	if len(grants) == 0 {
		grants = []string{granted}
	}
	var queries strings.Builder
	for _, grant := range grants {
		fmt.Fprintf(&queries, "<query>%s</query>", Escape(grant))
	}
	var values, constraints strings.Builder
	for _, f := range fixed {
		if f.Value != "" {
			fmt.Fprintf(&values, "<%[1]s>%[2]s</%[1]s>", f.Name, f.Value)
		}
		fmt.Fprintf(&constraints, "<%[1]s><readonly/></%[1]s>", f.Name)
	}
	return fmt.Appendf(nil, `<clickhouse>
	<profiles><default>%s<constraints>%s</constraints></default></profiles>
	<quotas><default/></quotas>
	<users><%[3]s>
		<password>%[4]s</password>
		<networks><ip>%[5]s</ip></networks>
		<profile>default</profile>
		<quota>default</quota>
		<grants>%[6]s</grants>
	</%[3]s></users>
</clickhouse>
`, values.String(), constraints.String(), User, Escape(password), Escape(network), queries.String())
}

// Escape makes text part of an XML document.
func Escape(text string) string {
	var escaped bytes.Buffer
	_ = xml.EscapeText(&escaped, []byte(text))
	return escaped.String()
}
