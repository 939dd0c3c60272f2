package issuer_test

import (
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// goldenBackups has a schedule whose node fails, is replaced, and withdraws.
func goldenBackups() []goldenStep {
	steps := seconds(
		&ledger.AcknowledgeKeys{Node: "n1"},
		&ledger.AcknowledgeKeys{Node: "n2"},
		&ledger.ChooseBackupNode{Node: "n1", Name: "one", Every: time.Hour},
		&ledger.ChooseBackupNode{Node: "n1", Name: "one", Every: time.Hour, Begin: true, Renews: true},
		&ledger.ChooseBackupNode{Node: "n2", Name: "two", Every: time.Hour},
		&ledger.RecordBackup{Node: "n1", Begun: 1_800_000_004_000, File: "/backups/1", Bytes: 7, Seq: 3},
		&ledger.ChooseBackupNode{Node: "n1", Name: "one", Every: 10 * time.Second, Renews: true},
	)
	steps = append(steps, goldenStep{time.Hour, &ledger.ChooseBackupNode{Node: "n1", Name: "one", Every: 10 * time.Second, Begin: true, Renews: true}})
	return append(steps, seconds(
		&ledger.RecordBackup{Node: "n1", Begun: 1_800_003_607_000, Failure: ledger.BackupDiskFull},
		&ledger.ChooseBackupNode{Node: "n2", Name: "two", Every: time.Hour},
		&ledger.BeginTimeline{},
		&ledger.ChooseBackupNode{Node: "n2"},
	)...)
}
