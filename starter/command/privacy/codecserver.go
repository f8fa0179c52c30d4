package privacy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"axiommind/starter/command"
	"axiommind/worker/payload"
)

// Bounds of the codec server. Decoding a page of a history takes a moment.
const (
	codecTimeout = 30 * time.Second
	codecIdle    = 2 * time.Minute
	codecHeaders = 16 << 10
)

// codecOptions are the flags of the codec server.
type codecOptions struct {
	address, tokenFile string
	origins            []string
	handler            payload.HandlerOptions
}

func codecServerCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "codec-server", Short: "decrypt Temporal's payloads for its web interface",
		Long: `Enter its address as the codec endpoint in Temporal's web interface, in the browser that runs on the same machine; or
give it to temporal as --codec-endpoint, with --codec-auth "Bearer TOKEN" if there is a token. It speaks no TLS: let a
proxy do that where others than this machine ask.`,
		Example: "starter codec-server --payload-key-file payload.keys --temporal-ui http://127.0.0.1:8233\n" +
			"starter codec-server --origin https://temporal.example.com --address :8234 --token-file token.txt",
	}
	f := cmd.Flags()
	o := &codecOptions{}
	f.StringVar(&o.address, "address", "127.0.0.1:8234", "host:port to listen on; other machines reach it only with --token-file")
	f.StringArrayVar(&o.origins, "origin", nil, "URL of a web interface that may ask; repeat for more (default: --temporal-ui)")
	f.StringVar(&o.tokenFile, "token-file", "", "file of a token that each request has to send as its bearer token")
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		ring, err := payload.Load(a.Cfg.PayloadKeyFile)
		switch {
		case err != nil:
			return command.BadUsage(err)
		case !ring.Encrypts():
			return command.Usagef("--payload-key-file: name the file of the keys that decrypt")
		}
		if err := o.check(a.Cfg.TemporalUI); err != nil {
			return err
		}
		o.handler.Namespace = a.Cfg.TemporalNamespace
		return serveCodec(ctx, a, o, ring)
	})
}

// check validates the options and configures the handler. Without --origin, Temporal's web interface is the only allowed
// origin.
func (o *codecOptions) check(ui string) error {
	host, _, err := net.SplitHostPort(o.address)
	switch {
	case err != nil:
		return command.Usagef("--address %q: want an address like 127.0.0.1:8234", o.address)
	case !command.Loopback(host) && o.tokenFile == "":
		return command.Usagef("--address %q: whoever reaches it can read Temporal's payloads: add --token-file FILE, or use 127.0.0.1",
			o.address)
	}
	if o.tokenFile != "" {
		token, err := command.ReadToken("--token-file", o.tokenFile)
		if err != nil {
			return err
		}
		o.handler.Admits = token.Admits
	}
	flag := "--origin"
	if len(o.origins) == 0 && ui != "" {
		flag, o.origins = "--temporal-ui", []string{ui}
	}
	for _, page := range o.origins {
		origin, err := payload.Origin(page)
		if err != nil {
			return command.Usagef("%s %q: %v", flag, page, err)
		}
		o.handler.Origins = append(o.handler.Origins, origin)
	}
	return nil
}

// serveCodec serves decryption to web pages and programs until ctx ends.
func serveCodec(ctx context.Context, a *command.App, o *codecOptions, ring *payload.Ring) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.address)
	if err != nil {
		return command.Usagef("--address %q: %v", o.address, err)
	}
	server := &http.Server{
		Handler: ring.Handler(o.handler), MaxHeaderBytes: codecHeaders,
		ReadHeaderTimeout: command.StopHTTP, ReadTimeout: codecTimeout, WriteTimeout: codecTimeout, IdleTimeout: codecIdle,
	}
	_, _ = fmt.Fprintf(a.ErrOut, "decrypting at http://%s for %s\n", listener.Addr(), whoAsks(o.handler.Origins))
	return command.ServeHTTP(ctx, listener, server)
}

func whoAsks(origins []string) string {
	if len(origins) == 0 {
		return "programs; no web page may ask: name one by --origin"
	}
	return fmt.Sprintf("programs and pages of %v", slices.Compact(slices.Sorted(slices.Values(origins))))
}
