// Package declare is the language of the files that declare users, clients, resource servers,
// publishers and settings: fixtures of "mintmark dev", and what "mintmark apply" reads and "mintmark
// export" writes.
//
// It reads files (read.go, yaml.go), checks them as a whole with the ledger's own rules on
// a scratch state (check.go), and writes them (write.go). Errors name file, line, entry and
// field, and never a value, since values are passwords and secrets. It knows no cluster:
// what a declaration changes there is up to packages apply and dev.
package declare
