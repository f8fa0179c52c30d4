package mcpserver

// The tests of package mcpserver_test see these.
const (
	DefaultToolLimit = defaultToolLimit
	MostStatements   = mostStatements
	MostToolLimit    = mostToolLimit
	SearchTokens     = searchTokens
	TitleTokens      = titleTokens
)

type (
	Call              = call
	McpOptions        = mcpOptions
	RememberArguments = rememberArguments
)

var NewMCPServer = newMCPServer
