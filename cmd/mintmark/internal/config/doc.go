// Package config has the settings of one node: their names, types and defaults (Options),
// the order of their sources (Load: a flag overrides the environment, which overrides the
// file, which overrides the default), the checks before a start, and the output of
// "config show" and "config example".
//
// It also locates a node's secrets: the cluster key (KeySource), the client secret at the
// upstream provider, and the rule that a file of secrets must be private to its owner. A
// secret is never a setting, so it is never shown.
//
// The package starts nothing and opens no data. Settings that the whole cluster must
// agree on are replicated instead: see ledger.Settings.
package config
