package tracing

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// Signal is a kind of telemetry.
type Signal string

// Signals that a program sends.
const (
	Traces  Signal = "traces"
	Metrics Signal = "metrics"
)

// Variables of OpenTelemetry that switch a signal on and off. The library reads the others itself: headers, certificates,
// timeouts, samplers.
const (
	disabled        = "OTEL_SDK_DISABLED"
	endpoint        = "OTEL_EXPORTER_OTLP_ENDPOINT"
	protocol        = "OTEL_EXPORTER_OTLP_PROTOCOL"
	defaultEndpoint = "http://localhost:4318"
)

// variable is the signal's own form of a variable.
func (s Signal) variable(format string) string {
	return fmt.Sprintf(format, strings.ToUpper(string(s)))
}

// Sends returns the URL to send the signal to, or "" if it is off. It is on if OTEL_EXPORTER_OTLP_ENDPOINT or the signal's own
// variable names a collector, or if OTEL_TRACES_EXPORTER (OTEL_METRICS_EXPORTER) is otlp. That variable also switches it off, by
// none.
func (p Program) Sends(s Signal) (string, error) {
	own, shared := p.Getenv(s.variable("OTEL_EXPORTER_OTLP_%s_ENDPOINT")), p.Getenv(endpoint)
	exporter := s.variable("OTEL_%s_EXPORTER")
	switch chosen := p.Getenv(exporter); {
	case strings.EqualFold(p.Getenv(disabled), "true"), chosen == "none", chosen == "" && own == "" && shared == "":
		return "", nil
	case chosen == "prometheus" && s == Metrics:
		return "", nil // They are served by --metrics-address.
	case chosen != "" && chosen != "otlp":
		return "", fmt.Errorf("%s %q: want otlp or none", exporter, chosen)
	}
	if spoken := cmp.Or(p.Getenv(s.variable("OTEL_EXPORTER_OTLP_%s_PROTOCOL")), p.Getenv(protocol)); spoken != "" && spoken != "http/protobuf" {
		return "", fmt.Errorf("no %s are sent: %s %q: want http/protobuf", s, protocol, spoken)
	}
	to := own
	if to == "" {
		to = strings.TrimSuffix(cmp.Or(shared, defaultEndpoint), "/") + "/v1/" + string(s)
	}
	if u, err := url.Parse(to); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("no %s are sent: the endpoint is no URL: want http://host:4318", s)
	}
	return to, nil
}
