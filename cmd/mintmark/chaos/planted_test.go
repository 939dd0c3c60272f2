package chaos

import "testing"

// planted are the bugs that the tests of long_planted_test.go must find, by name.
var planted = map[string][]patch{
	// After a while the log reports writes as synced that are not.
	"unsynced log": {
		{file: "cluster/store/chaos_disk.go", old: "\tundo *os.File\n}", new: "\tundo *os.File\n\tn    int\n}"},
		{
			file: "cluster/store/chaos_disk.go",
			old:  "\tif err := f.WritableFile.Sync(); err != nil {\n",
			new:  "\tif f.n++; f.n > 50 {\n\t\treturn nil\n\t}\n\tif err := f.WritableFile.Sync(); err != nil {\n",
		},
	},
	"clock in apply": {
		{file: "cluster/machine/state.go", old: "now.At = max(now.At, s.At)", new: "now.At = max(now.At, time.Now().UnixMilli())"},
		{file: "cluster/machine/state.go", old: "\t\"sync/atomic\"\n", new: "\t\"sync/atomic\"\n\t\"time\"\n"},
	},
	// The preview decides about a code, and the log only writes.
	"decided outside": {
		{file: "cluster/command/command.go", old: "\tAgain bool\n", new: "\tAgain bool\n\tApplying bool\n"},
		{file: "cluster/machine/state.go", old: "Again: s.Again()", new: "Applying: true, Again: s.Again()"},
		{file: "issuer/ledger/exchange.go", old: "if g.Due > 0 {", new: "if g.Due > 0 && !m.Applying {"},
	},
	"local read": {{
		file: "cluster/barrier.go",
		old:  "func (n *Node) waitBarrier(ctx context.Context, b *barriers) error {\n",
		new:  "func (n *Node) waitBarrier(ctx context.Context, b *barriers) error {\n\tif n != nil {\n\t\treturn nil\n\t}\n",
	}},
	"no command id": {{
		file: "cluster/propose.go",
		old:  "\t\t\tagain = true\n",
		new:  "\t\t\tif _, err := io.ReadFull(n.config.Rand, id[:]); err != nil {\n\t\t\t\treturn nil, 0, err\n\t\t\t}\n",
	}},
	"mark ignored": {{
		file: "issuer/ledger/redeem.go",
		old:  "if r.m.Again && r.grant.Due != l.Generation",
		new:  "if r.m.Again && r.grant == nil",
	}, {
		file: "issuer/ledger/refresh.go",
		old:  "if c.Unspent && c.spentRecently(r)",
		new:  "if !m.Again && c.Unspent && c.spentRecently(r)",
	}},
	// A key becomes active before every node has it.
	"unseen key": {{file: "issuer/ledger/key.go", old: "n == nil || !n.HasOpened(k.ID)", new: "n == nil"}},
	// A key is dropped before the tokens that it signed expire.
	"hasty key": {{
		file: "issuer/ledger/key.go",
		old:  "const tokenOverlap = (1800 + 60) * time.Second",
		new:  "const tokenOverlap = 60 * time.Second",
	}},
	// The end of all grants of a publisher ends none.
	"publisher not ended": {{
		file: "issuer/ledger/grant.go",
		old:  "c != nil && g.CreatedSeq <= c.GrantsRevokedBefore",
		new:  "c != nil && g.CreatedSeq <= c.GrantsRevokedBefore && g.Due > 1<<20",
	}},
	// A rejected publisher's clients can be used.
	"rejected used": {{
		file: "issuer/ledger/client_document.go",
		old:  "\t\treturn PublisherIsRejected\n\t}\n\treturn c.usable()",
		new:  "\t}\n\treturn c.usable()",
	}},
	// An agent gets what it asks for.
	"no ceiling": {{file: "issuer/ledger/client_document.go", old: "if most.Has(name) && ", new: "if (most.Has(name) || p.LongRetry) && "}},
	// Only one process of an agent gets the successor.
	"no long retry": {{
		file: "issuer/ledger/grant.go",
		old:  "\t\treturn oauth.AccessTokenLifetime * time.Second",
		new:  "\t\treturn oauth.AccessTokenLifetime * time.Nanosecond",
	}},
	// A changed entry of the log is applied, since no checksum is compared.
	"damaged entry": {smallSegments, {
		file: "cluster/store/checksum_store.go",
		old:  "log.Index != index || binary.BigEndian.Uint32(ext[at+8:]) != entrySum(log)",
		new:  "log.Index != index",
	}},
}

// smallSegments seals a segment after a second or two.
var smallSegments = patch{file: "cluster/config.go", old: "&c.SegmentSize, 16<<20", new: "&c.SegmentSize, 32<<10"}

// TestPlantedBugsApply: a planted bug changes what the program has, so that its test,
// which runs seldom, does not end before it begins.
func TestPlantedBugsApply(t *testing.T) {
	for name, patches := range planted {
		t.Run(name, func(t *testing.T) { overlay(t, t.TempDir(), append(hooks(t), patches...)) })
	}
}
