package telemetry

import _ "embed"

// What watches the metrics. Tests verify that every metric which they name exists.
var (
	// Rules are alerts for Prometheus, in YAML.
	//
	//go:embed monitor/rules.yaml
	Rules string
	// Dashboard is a dashboard for Grafana, in JSON.
	//
	//go:embed monitor/dashboard.json
	Dashboard string
)
