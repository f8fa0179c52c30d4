package install

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// edit changes a file of a server's source before it is built. It replaces the text from the first string up to, and
// without, the one after; where that is empty, the first string alone. The first occurs once in the file.
type edit struct{ file, from, upTo, with string }

// apply applies the edit to a copy of the source.
func (e edit) apply(source string) error {
	path := filepath.Join(source, filepath.FromSlash(e.file))
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := bytes.Count(text, []byte(e.from)); n != 1 {
		return fmt.Errorf("edit %s: %q is there %d times, want once", e.file, e.from, n)
	}
	start := bytes.Index(text, []byte(e.from))
	end := start + len(e.from)
	if e.upTo != "" {
		n := bytes.Index(text[end:], []byte(e.upTo))
		if n < 0 {
			return fmt.Errorf("edit %s: %q does not follow %q", e.file, e.upTo, e.from)
		}
		end += n
	}
	return os.WriteFile(path, bytes.Join([][]byte{text[:start], []byte(e.with), text[end:]}, nil), 0o644)
}

// temporalEdits remove from Temporal's server the stores and archives that a dev server on SQLite does not use:
// Cassandra, PostgreSQL, MySQL, S3, Google's cloud and the signatures of AWS. Their clients, a third of the build,
// go with them. The last edit removes the metrics, which nothing reads.
var temporalEdits = []edit{
	{file: "common/archiver/provider/provider.go", from: "\t\"go.temporal.io/server/common/archiver/gcloud\"\n\t\"go.temporal.io/server/common/archiver/s3store\"\n"},
	{file: "common/archiver/provider/provider.go", from: "\tcase gcloud.URIScheme:\n\t\tif p.historyArchiverConfigs.", upTo: "\tdefault:"},
	{file: "common/archiver/provider/provider.go", from: "\tcase s3store.URIScheme:\n\t\tif p.visibilityArchiverConfigs.", upTo: "\tdefault:"},
	{file: "common/persistence/visibility/store/elasticsearch/client/aws.go", from: "\t\"os\"\n", upTo: ")\n"},
	{file: "common/persistence/visibility/store/elasticsearch/client/aws.go", from: "\tif config.Region == \"\" {\n\t\tconfig.Region =", upTo: "\treturn elasticaws."},
	{
		file: "common/persistence/visibility/store/elasticsearch/client/aws.go",
		from: "\treturn elasticaws.NewV4SigningClient(awsCredentials, config.Region), nil",
		with: "\treturn nil, fmt.Errorf(\"this build signs no requests to AWS\")",
	},
	{file: "common/persistence/visibility/defs.go", from: "\t\"go.temporal.io/server/common/persistence/sql/sqlplugin/mysql\"\n\t\"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql\"\n"},
	{file: "common/persistence/visibility/defs.go", from: "mysql.PluginName, postgresql.PluginName, postgresql.PluginNamePGX, "},
	{file: "common/persistence/visibility/store/sql/query_converter_factory.go", from: "\t\"go.temporal.io/server/common/persistence/sql/sqlplugin/mysql\"\n\t\"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql\"\n"},
	{file: "common/persistence/visibility/store/sql/query_converter_factory.go", from: "\tcase mysql.PluginName:", upTo: "\tcase sqlite.PluginName:"},
	{file: "common/persistence/client/fx.go", from: "\t\"go.temporal.io/server/common/persistence/cassandra\"\n"},
	{file: "common/persistence/client/fx.go", from: "\tcase defaultStoreCfg.Cassandra != nil:", upTo: "\tcase defaultStoreCfg.SQL != nil:"},
	{file: "temporal/fx.go", from: "\t\"go.temporal.io/server/common/persistence/cassandra\"\n"},
	{file: "temporal/fx.go", from: "\t// cassandra schema version validation\n", upTo: "\t// sql schema version validation\n"},

	// Every second the server goes through a counter for each namespace, queue and operation that it ever saw: two thirds of
	// its work after some hundred namespaces.
	{
		file: "common/metrics/config.go", from: "\tsetDefaultPerUnitHistogramBoundaries(&c.ClientConfig)\n\n\tfatalOnListenerError := true\n",
		upTo: "}\n\nfunc configExcludeTags", with: "\treturn NoopMetricsHandler, nil\n",
	},
}

// weaviateEdits bind Weaviate's listeners to loopback and leave out modules that the stack never enables: clients of
// some sixty services that make vectors, answers and backups, and dictionaries of tokenizers.
var weaviateEdits = []edit{
	// These three listeners have no setting for their address, and the whole network could use them without a key.
	{file: "adapters/handlers/grpc/server.go", from: `":%d"`, with: `"127.0.0.1:%d"`},
	{file: "adapters/handlers/rest/clusterapi/grpc/server.go", from: `":%d"`, with: `"127.0.0.1:%d"`},
	{file: "adapters/handlers/rest/clusterapi/serve.go", from: `":%d"`, with: `"127.0.0.1:%d"`},

	{file: "adapters/handlers/rest/configure_api.go", from: "\t\"github.com/weaviate/weaviate/cluster/usage\"\n"},
	{file: "adapters/handlers/rest/configure_api.go", from: "\t\"github.com/weaviate/weaviate/entities/modulecapabilities\"\n"},
	{file: "adapters/handlers/rest/configure_api.go", from: "\tmodstgazure \"", upTo: "\t\"github.com/weaviate/weaviate/usecases/"},
	{
		file: "adapters/handlers/rest/configure_api.go", from: "\t// Default modules\n",
		upTo: "\tappState.Logger.\n\t\tWithField(\"action\", \"startup\").\n\t\tDebug(\"completed registering modules\")",
	},
	{file: "adapters/handlers/rest/configure_api.go", from: "\t\t// Initialize usage service for GCS\n", upTo: "\t}\n}\n"},
	{file: "usecases/schema/tenant.go", from: "\tmodsloads3 \"github.com/weaviate/weaviate/modules/offload-s3\"\n"},
	{file: "usecases/schema/tenant.go", from: "modsloads3.Name", with: `"offload-s3"`},

	{file: "entities/tokenizer/tokenizer.go", from: "\t\"github.com/go-ego/gse\"\n\tkoDict \"github.com/ikawaha/kagome-dict-ko\"\n"},
	{
		file: "entities/tokenizer/tokenizer.go", from: "var (\n\tgseTokenizer   *gse.Segmenter",
		with: "type segmenter struct{}\n\nfunc (*segmenter) CutAll(string) []string { return nil }\n\nvar (\n\tgseTokenizer   *segmenter",
	},
	{file: "entities/tokenizer/tokenizer.go", from: "gseTokenizerCh *gse.Segmenter", with: "gseTokenizerCh *segmenter"},
	{file: "entities/tokenizer/tokenizer.go", from: "\t\tseg, err := gse.New(\"ja\")", upTo: "\t\tgseTokenizer = &seg", with: "\t\tvar seg segmenter\n"},
	{file: "entities/tokenizer/tokenizer.go", from: "\t\tseg, err := gse.New(\"zh\")", upTo: "\t\tgseTokenizerCh = &seg", with: "\t\tvar seg segmenter\n"},
	{file: "entities/tokenizer/tokenizer.go", from: "koDict.Dict()", with: "(*dict.Dict)(nil)"},

	{file: "usecases/objects/validation/phone_numbers.go", from: "\t\"errors\"\n"},
	{file: "usecases/objects/validation/phone_numbers.go", from: "\t\"strings\"\n\n\t\"github.com/nyaruka/phonenumbers\"\n"},
	{
		file: "usecases/objects/validation/phone_numbers.go", from: "\tdefaultCountry = strings.ToUpper(defaultCountry)", upTo: "\treturn &models.PhoneNumber{",
	},
	{
		file: "usecases/objects/validation/phone_numbers.go", from: "\treturn &models.PhoneNumber{", upTo: "}\n",
		with: "\treturn nil, fmt.Errorf(\"phone number %q: this build of the server knows none\", input)\n",
	},

	{file: "usecases/auth/authentication/oidc/middleware.go", from: "\t\"bytes\"\n"},
	{file: "usecases/auth/authentication/oidc/middleware.go", from: "\t\"os\"\n"},
	{file: "usecases/auth/authentication/oidc/middleware.go", from: "\t\"github.com/minio/minio-go/v7\"\n\t\"github.com/minio/minio-go/v7/pkg/credentials\"\n"},
	{
		file: "usecases/auth/authentication/oidc/middleware.go", from: "\t\tparts := strings.TrimPrefix(c.Config.Certificate.Get(), \"s3://\")", upTo: "\t} else {",
		with: "\t\treturn nil, fmt.Errorf(\"this build of the server reads no certificate from S3\")\n",
	},
}
