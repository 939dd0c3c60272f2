package chaos

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// at returns the op of a hand-written history that started at a and ended at b, in
// milliseconds.
func at(a, b int, o op) op {
	o.Start, o.End = time.Duration(a)*time.Millisecond, time.Duration(b)*time.Millisecond
	o.Node = "n1"
	return o
}

func exchanged(c class, code string) op {
	return op{Kind: exchange, Grant: "g", Class: c, Code: code, Got: 1}
}

func refreshed(gen uint32, c class, got uint32) op {
	o := op{Kind: refresh, Grant: "g", Gen: gen, Class: c, Got: got}
	if c == refused {
		o.Code = invalidGrant
	}
	return o
}

func (o op) deliberately() op { o.Deliberate = true; return o }

func revoked(c class) op { return op{Kind: revokeGrant, Grant: "g", Class: c} }

func with(secret int, c class, code string) op {
	return op{Kind: refresh, Client: turning, Secret: secret, Class: c, Code: code}
}

func secretOp(k kind, secret int, c class) op {
	return op{Kind: k, Client: turning, Secret: secret, Class: c}
}

func toggled(k kind, c class) op { return op{Kind: k, Client: toggling, Class: c} }

func used(c class, code string) op { return op{Kind: refresh, Client: toggling, Class: c, Code: code} }

// TestModels: each model accepts what may happen and rejects what may not.
func TestModels(t *testing.T) {
	chains := func(ops []op) []verdict { bad, _ := chainModel(false).check((&env{}).aged(ops)); return bad }
	tolerant := func(ops []op) []verdict { bad, _ := chainModel(true).check(ops); return bad }
	secrets := func(ops []op) []verdict { bad, _ := secretModel.check(ops); return bad }
	states := func(ops []op) []verdict { bad, _ := stateModel.check(ops); return bad }
	start := at(0, 1, exchanged(ok, ""))
	for name, c := range map[string]struct {
		check func([]op) []verdict
		ops   []op
		good  bool
	}{
		"a chain":                       {chains, []op{start, at(2, 3, refreshed(1, ok, 2)), at(4, 5, refreshed(2, ok, 3))}, true},
		"a retry":                       {chains, []op{start, at(2, 3, refreshed(1, ok, 2)), at(4, 5, refreshed(1, ok, 2)), at(6, 7, refreshed(2, ok, 3))}, true},
		"a lost response and its retry": {chains, []op{start, at(2, 3, refreshed(1, unknown, 0)), at(4, 5, refreshed(1, ok, 2))}, true},
		"two at once":                   {chains, []op{start, at(2, 9, refreshed(1, ok, 2)), at(3, 8, refreshed(1, ok, 2))}, true},
		"reuse ends":                    {chains, []op{start, at(2, 3, refreshed(1, ok, 2)), at(4, 5, refreshed(2, ok, 3)), at(6, 7, refreshed(1, refused, 0).deliberately()), at(8, 9, refreshed(3, refused, 0))}, true},
		"a code twice ends":             {chains, []op{start, at(2, 3, exchanged(refused, invalidGrant)), at(4, 5, refreshed(1, refused, 0))}, true},
		"a revocation of unknown fate":  {chains, []op{start, at(2, 3, revoked(unknown)), at(4, 5, refreshed(1, ok, 2)), at(6, 7, refreshed(2, refused, 0))}, true},
		"a suspended client's grant":    {chains, []op{start, at(2, 3, op{Kind: refresh, Grant: "g", Gen: 1, Class: refused, Code: "unauthorized_client"}), at(4, 5, refreshed(1, ok, 2))}, true},
		"without effect":                {chains, []op{start, at(2, 3, refreshed(1, noEffect, 0)), at(4, 5, refreshed(1, ok, 2))}, true},

		"a code redeemed twice":                    {chains, []op{start, at(2, 3, exchanged(ok, ""))}, false},
		"a code redeemed twice at once":            {chains, []op{at(0, 9, exchanged(ok, "")), at(1, 8, exchanged(ok, ""))}, false},
		"a good code refused":                      {chains, []op{at(0, 1, exchanged(refused, invalidGrant))}, false},
		"alive after a second redemption":          {chains, []op{start, at(2, 3, exchanged(refused, invalidGrant)), at(4, 5, refreshed(1, ok, 2))}, false},
		"a retry after the window is reuse":        {chains, []op{start, at(2, 3, refreshed(1, ok, 2)), at(80_000, 80_001, refreshed(1, refused, 0)), at(80_002, 80_003, refreshed(2, refused, 0))}, true},
		"a retry after the window":                 {chains, []op{start, at(2, 3, refreshed(1, ok, 2)), at(80_000, 80_001, refreshed(1, ok, 2))}, false},
		"a fork":                                   {chains, []op{start, at(2, 3, refreshed(1, ok, 2)), at(4, 5, refreshed(2, ok, 3)), at(6, 7, refreshed(1, ok, 2))}, false},
		"a retry that forks":                       {chains, []op{start, at(2, 3, refreshed(1, ok, 2)), at(4, 5, refreshed(1, ok, 3))}, false},
		"a lost write":                             {chains, []op{start, at(2, 3, refreshed(1, ok, 2)), at(4, 5, refreshed(2, refused, 0))}, false},
		"a retry that is an alarm":                 {chains, []op{start, at(2, 3, refreshed(1, ok, 2)), at(4, 5, refreshed(1, refused, 0))}, false},
		"an alarm after an unknown outcome":        {chains, []op{start, at(2, 3, refreshed(1, unknown, 0)), at(4, 5, refreshed(1, refused, 0))}, false},
		"alive after reuse":                        {chains, []op{start, at(2, 3, refreshed(1, ok, 2)), at(4, 5, refreshed(2, ok, 3)), at(6, 7, refreshed(1, refused, 0)), at(8, 9, refreshed(3, ok, 4))}, false},
		"alive after revocation":                   {chains, []op{start, at(2, 3, revoked(ok)), at(4, 5, refreshed(1, ok, 2))}, false},
		"a generation skipped":                     {chains, []op{start, at(2, 3, refreshed(1, ok, 3))}, false},
		"a first copy decided last":                {chains, []op{start, at(2, 9, refreshed(1, refused, 0)), at(3, 4, refreshed(1, ok, 2)), at(5, 6, refreshed(2, ok, 3)), at(10, 11, refreshed(3, refused, 0))}, false},
		"a first copy decided last, which is told": {tolerant, []op{start, at(2, 9, refreshed(1, refused, 0)), at(3, 4, refreshed(1, ok, 2)), at(5, 6, refreshed(2, ok, 3)), at(10, 11, refreshed(3, refused, 0))}, true},
		"ended by a late request":                  {chains, []op{start, at(2, 3, refreshed(1, unknown, 0)), at(4, 5, refreshed(1, ok, 2)), at(6, 7, refreshed(2, ok, 3)), at(8, 9, refreshed(3, refused, 0))}, false},
		"ended by a late request, which is told":   {tolerant, []op{start, at(2, 3, refreshed(1, unknown, 0)), at(4, 5, refreshed(1, ok, 2)), at(6, 7, refreshed(2, ok, 3)), at(8, 9, refreshed(3, refused, 0))}, true},
		"ended by reuse of unknown fate":           {chains, []op{start, at(2, 3, refreshed(1, ok, 2)), at(4, 5, refreshed(2, ok, 3)), at(6, 7, refreshed(1, unknown, 0).deliberately()), at(8, 9, refreshed(3, refused, 0))}, true},

		"a rotation":                   {secrets, []op{at(0, 1, secretOp(addSecret, 1, ok)), at(2, 3, with(1, ok, "")), at(4, 5, with(0, ok, "")), at(6, 7, secretOp(revokeSecret, 0, ok)), at(8, 9, with(0, refused, "invalid_client"))}, true},
		"a revocation that may come":   {secrets, []op{at(0, 1, secretOp(addSecret, 1, ok)), at(2, 3, secretOp(revokeSecret, 0, unknown)), at(4, 5, with(0, ok, "")), at(6, 7, with(0, refused, "invalid_client"))}, true},
		"the last secret stays":        {secrets, []op{at(0, 1, secretOp(revokeSecret, 0, refused))}, true},
		"used after revocation":        {secrets, []op{at(0, 1, secretOp(addSecret, 1, ok)), at(2, 3, secretOp(revokeSecret, 0, ok)), at(4, 5, with(0, ok, ""))}, false},
		"known after revocation":       {secrets, []op{at(0, 1, secretOp(addSecret, 1, ok)), at(2, 3, secretOp(revokeSecret, 0, ok)), at(4, 5, with(0, refused, invalidGrant))}, false},
		"an added secret is not known": {secrets, []op{at(0, 1, secretOp(addSecret, 1, ok)), at(2, 3, with(1, refused, "invalid_client"))}, false},
		"a third secret":               {secrets, []op{at(0, 1, secretOp(addSecret, 1, ok)), at(2, 3, secretOp(addSecret, 2, ok))}, false},
		"the last secret revoked":      {secrets, []op{at(0, 1, secretOp(revokeSecret, 0, ok))}, false},
		"revived":                      {secrets, []op{at(0, 1, secretOp(addSecret, 1, ok)), at(2, 3, secretOp(revokeSecret, 0, unknown)), at(4, 5, with(0, refused, "invalid_client")), at(6, 7, with(0, ok, ""))}, false},

		"suspended and resumed":        {states, []op{at(0, 1, used(ok, "")), at(2, 3, toggled(suspend, ok)), at(4, 5, used(refused, "unauthorized_client")), at(6, 7, toggled(resume, ok)), at(8, 9, used(ok, ""))}, true},
		"a suspension that may come":   {states, []op{at(0, 1, toggled(suspend, unknown)), at(2, 3, used(ok, "")), at(4, 5, used(refused, "unauthorized_client"))}, true},
		"used while suspended":         {states, []op{at(0, 1, toggled(suspend, ok)), at(2, 3, used(ok, ""))}, false},
		"told of while suspended":      {states, []op{at(0, 1, toggled(suspend, ok)), at(2, 3, used(refused, invalidGrant))}, false},
		"stopped after it was resumed": {states, []op{at(0, 1, toggled(suspend, ok)), at(2, 3, toggled(resume, ok)), at(4, 5, used(refused, "unauthorized_client"))}, false},
		"suspended twice":              {states, []op{at(0, 1, toggled(suspend, ok)), at(2, 3, toggled(suspend, ok))}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bad := c.check(c.ops)
			require.Equal(t, c.good, len(bad) == 0, "%v", bad)
			for _, v := range bad {
				require.Equal(t, porcupine.Illegal, v.result, "rejected, without a timeout")
			}
		})
	}
}

// TestPublisherModels: the end of all grants of a publisher ends each of them, for ever, and nothing
// of it is used while it is rejected.
func TestPublisherModels(t *testing.T) {
	of := func(o op) op { o.Publisher = "p"; return o }
	chains := func(ops []op) []verdict {
		bad, _ := chainModel(false).check(withEnds((&env{}).aged(ops)))
		return bad
	}
	states := func(ops []op) []verdict { bad, _ := publisherModel.check(ops); return bad }
	command := func(k kind, c class) op { return op{Kind: k, Publisher: "p", Class: c} }
	allowed, start := at(0, 10, of(op{Kind: allow, Grant: "g", Class: ok})), at(11, 12, of(exchanged(ok, "")))
	refresh := func(gen uint32, c class, got uint32) op { return of(refreshed(gen, c, got)) }
	stopped := of(op{Kind: "refresh", Grant: "g", Gen: 1, Class: refused, Code: "unauthorized_client"})
	for name, c := range map[string]struct {
		check func([]op) []verdict
		ops   []op
		good  bool
	}{
		"five at once":                    {chains, []op{allowed, start, at(20, 29, refresh(1, ok, 2)), at(21, 28, refresh(1, ok, 2)), at(22, 27, refresh(1, ok, 2)), at(23, 26, refresh(1, unknown, 0)), at(24, 25, refresh(1, ok, 2)), at(30, 31, refresh(2, ok, 3))}, true},
		"a process after ten minutes":     {chains, []op{allowed, start, at(20, 21, refresh(1, ok, 2)), at(600_000, 600_001, refresh(1, ok, 2)), at(600_002, 600_003, refresh(2, ok, 3))}, true},
		"signed out after ten minutes":    {chains, []op{allowed, start, at(20, 21, refresh(1, ok, 2)), at(600_000, 600_001, refresh(1, refused, 0))}, false},
		"a process after an hour":         {chains, []op{allowed, start, at(20, 21, refresh(1, ok, 2)), at(3_600_000, 3_600_001, refresh(1, ok, 2))}, false},
		"two processes fork":              {chains, []op{allowed, start, at(20, 29, refresh(1, ok, 2)), at(21, 28, refresh(1, ok, 3))}, false},
		"ended":                           {chains, []op{allowed, start, at(20, 21, command(endGrants, ok)), at(22, 23, refresh(1, refused, 0))}, true},
		"ended meanwhile":                 {chains, []op{allowed, start, at(20, 29, command(endGrants, ok)), at(21, 22, refresh(1, ok, 2)), at(30, 31, refresh(2, refused, 0))}, true},
		"perhaps ended":                   {chains, []op{allowed, start, at(20, 21, command(rejectPublisher, unknown)), at(22, 23, refresh(1, ok, 2)), at(24, 25, refresh(2, refused, 0))}, true},
		"ended before the Allow":          {chains, []op{at(5, 15, command(endGrants, ok)), allowed, start, at(20, 21, refresh(1, ok, 2))}, true},
		"ended after the Allow":           {chains, []op{at(5, 15, command(endGrants, ok)), allowed, at(16, 17, of(exchanged(refused, invalidGrant)))}, true},
		"ended long before":               {chains, []op{at(-5, -1, command(endGrants, ok)), allowed, start, at(20, 21, refresh(1, ok, 2))}, true},
		"alive after the end":             {chains, []op{allowed, start, at(20, 21, command(endGrants, ok)), at(22, 23, refresh(1, ok, 2))}, false},
		"alive after a rejection":         {chains, []op{allowed, start, at(20, 21, command(rejectPublisher, ok)), at(22, 23, command(approvePublisher, ok)), at(24, 25, refresh(1, ok, 2))}, false},
		"alive again":                     {chains, []op{allowed, start, at(20, 21, command(rejectPublisher, unknown)), at(22, 23, refresh(1, refused, 0)), at(24, 25, refresh(1, ok, 2))}, false},
		"signed out by an end before":     {chains, []op{at(-5, -1, command(endGrants, ok)), allowed, start, at(20, 21, refresh(1, refused, 0))}, false},
		"signed out by a refused command": {chains, []op{allowed, start, at(20, 21, command(rejectPublisher, refused)), at(22, 23, refresh(1, refused, 0))}, false},

		"rejected and approved":          {states, []op{at(0, 1, command(rejectPublisher, ok)), at(2, 3, stopped), at(4, 5, command(approvePublisher, ok)), at(6, 7, refresh(1, refused, 0))}, true},
		"a rejection that may come":      {states, []op{at(0, 1, command(rejectPublisher, unknown)), at(2, 3, refresh(1, ok, 2)), at(4, 5, stopped)}, true},
		"used while rejected":            {states, []op{at(0, 1, command(rejectPublisher, ok)), at(2, 3, refresh(1, ok, 2))}, false},
		"told of while rejected":         {states, []op{at(0, 1, command(rejectPublisher, ok)), at(2, 3, refresh(1, refused, 0))}, false},
		"approved by a change of limits": {states, []op{at(0, 1, command(rejectPublisher, ok)), at(2, 3, command(setCeiling, ok)), at(4, 5, refresh(1, ok, 2))}, false},
		"stopped after an approval":      {states, []op{at(0, 1, command(rejectPublisher, ok)), at(2, 3, command(approvePublisher, ok)), at(4, 5, stopped)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bad := c.check(c.ops)
			require.Equal(t, c.good, len(bad) == 0, "%v", bad)
		})
	}
}

// TestTimeThatCounts: the judge does not count time in which nothing could be committed
// against the retry window, at most a day of each halt, but counts it everywhere else.
func TestTimeThatCounts(t *testing.T) {
	const second, hour = 1000, 3600 * 1000 // of the history
	stopped := func(from, to int) halt {
		h := halt{begun: time.Duration(from) * time.Millisecond, ended: time.Duration(to) * time.Millisecond}
		h.from, h.to = h.begun-time.Second, h.ended+time.Second
		return h
	}
	perhaps := stopped(5*second, 90*second)
	perhaps.ended = perhaps.begun
	allowed := at(0, 1, op{Kind: allow, Grant: "g", Class: ok})
	spent := []op{allowed, at(2, 3, exchanged(ok, "")), at(4, 5, refreshed(1, ok, 2))}
	retried := func(when int, c class) []op {
		got := uint32(0)
		if c == ok {
			got = 2
		}
		return append(spent[:3:3], at(when, when+1, refreshed(1, c, got)))
	}
	redeemed := func(when int, c class) []op {
		code := ""
		if c == refused {
			code = invalidGrant
		}
		return []op{allowed, at(when, when+1, exchanged(c, code))}
	}
	for name, c := range map[string]struct {
		halts []halt
		leaps []clockStep
		ops   []op
		good  bool
	}{
		"answered after a halt":                {[]halt{stopped(5*second, 90*second)}, nil, retried(91*second, ok), true},
		"signed out after a halt":              {[]halt{stopped(5*second, 90*second)}, nil, retried(91*second, refused), false},
		"answered after one halt of two":       {[]halt{stopped(5*second, 40*second), stopped(60*second, 100*second)}, nil, retried(101*second, ok), true},
		"signed out after two halts":           {[]halt{stopped(5*second, 40*second), stopped(60*second, 100*second)}, nil, retried(101*second, refused), false},
		"answered after what may be a halt":    {[]halt{perhaps}, nil, retried(91*second, ok), true},
		"signed out after what may be a halt":  {[]halt{perhaps}, nil, retried(91*second, refused), true},
		"answered long after a halt":           {[]halt{stopped(5*second, 90*second)}, nil, retried(170*second, ok), false},
		"signed out long after a halt":         {[]halt{stopped(5*second, 90*second)}, nil, retried(170*second, refused), true},
		"answered after a halt before":         {[]halt{stopped(-90*second, 0)}, nil, retried(91*second, ok), false},
		"answered after a day and more":        {[]halt{stopped(5*second, 25*hour)}, nil, retried(25*hour+second, ok), false},
		"signed out after a day and more":      {[]halt{stopped(5*second, 25*hour)}, nil, retried(25*hour+second, refused), true},
		"signed out after a halt of the clock": {[]halt{stopped(5*second, 6*second)}, []clockStep{{5500 * time.Millisecond, time.Hour}}, retried(7*second, refused), false},
		"answered after a leap":                {nil, []clockStep{{5500 * time.Millisecond, time.Hour}}, retried(7*second, ok), false},
		"a code refused":                       {nil, nil, redeemed(280*second, refused), false},
		"a code that has expired":              {nil, nil, redeemed(320*second, refused), true},
		"redeemed after it has expired":        {nil, nil, redeemed(320*second, ok), false},
		"redeemed after a halt":                {[]halt{stopped(5*second, 310*second)}, nil, redeemed(320*second, ok), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := &env{halts: c.halts, clockSteps: c.leaps}
			bad, _ := chainModel(false).check(w.aged(c.ops))
			require.Equal(t, c.good, len(bad) == 0, "%v", bad)
		})
	}
}
