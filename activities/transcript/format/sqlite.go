package format

// anyDatabase is a database, or a SQL dump of one, whose tables do not show in its first bytes. The sessions
// bear the name of the format that the tables belong to.
var anyDatabase = Format{
	Name: "sqlite", Title: "SQLite", Files: "database or dump of one of the above, told by its tables",
	Reference: "sqlite.org/fileformat.html",
	Dirs:      nowhere,
}
