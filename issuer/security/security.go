package security

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// A Kind is a kind of authentication.
type Kind string

// Kinds.
const (
	SignIn Kind = "sign_in"               // of a user
	Client Kind = "client_authentication" // of an application at the token endpoint
	Reader Kind = "reader_authentication" // of a resource server at the revocation feed

	Operator Kind = "operator_authentication" // of an operator on another machine, or for an operation without its scope
)

var messages = map[Kind]string{
	Operator: "operator refused",
	SignIn:   "sign-in failed", Client: "client authentication failed", Reader: "reader authentication failed",
}

// A Failure is one failed authentication. No field may contain text that the sender chose:
// an unknown user name may be a password typed into the wrong field.
type Failure struct {
	Kind    Kind
	Cause   ledger.Cause
	Address string // IP address of the sender
	Client  string // id of the client; "" if no client has the id that was sent
	User    string // id of the user; "" if no user has the name that was sent
	Name    string // user name of User
	Request string // id of the request

	Operator string // name of a token or certificate that was genuine
}

// The number of log lines is bounded by key. A key is a kind of authentication, a cause,
// an account and a network. In each window a key has one line at its first failure, and
// one at the end of the window with the number of the others.
//
// A network is the widest prefix that one subscriber may have. An attacker with many
// networks could still use up the keys of a kind. From then on, failures of that kind
// share one key for each cause and account, without the network, so that failures at one
// account can't be hidden among those at another. The line with their number names no
// address, since they come from several. Only existing accounts have keys, so an attacker
// can't use up these keys with invented accounts.
const (
	window      = time.Minute
	maxNetworks = 1000 // keys with a network, for each kind in a window
)

// maxAccounts is how many accounts of each kind are counted between two reports, and how
// many keys without a network there are in a window. Failures at further accounts are
// counted without the account.
const maxAccounts = 10_000

// Config configures a Recorder.
type Config struct {
	Log *slog.Logger
	Now func() time.Time
	// Count is called for each failure, for metrics. It may be nil.
	Count func(Kind, ledger.Cause)
}

// A Recorder records failures. Its methods are safe for concurrent use, and may be called
// on a nil Recorder, which records nothing.
type Recorder struct {
	config Config

	mu       sync.Mutex // guards the fields below
	since    time.Time  // beginning of the window
	kinds    map[Kind]*keys
	overflow int // failures in this window for which there was no key left
	tally    ledger.FailureCounts
}

// keys has the keys of one kind in a window.
type keys struct {
	networks map[key]*repeats
	accounts map[key]*repeats // keys without a network, used when networks is full
}

type key struct {
	cause   ledger.Cause
	network string
	client  string
	user    string

	operator string
}

type repeats struct {
	last Failure
	more int // failures after the first
}

// New returns a Recorder.
func New(c Config) *Recorder {
	return &Recorder{config: c, kinds: map[Kind]*keys{}}
}

// Record counts one failure, and logs it if it is the first of its key in the window.
func (r *Recorder) Record(f Failure) {
	if r == nil {
		return
	}
	if r.config.Count != nil {
		r.config.Count(f.Kind, f.Cause)
	}
	r.flush(false)
	if r.add(f) {
		r.log(f, 0)
	}
}

// add counts f and reports whether it is the first failure of its key in the window.
func (r *Recorder) add(f Failure) (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch f.Kind {
	case SignIn:
		count(&r.tally.SignIns, &r.tally.Users, f.User)
	case Client:
		count(&r.tally.Authentications, &r.tally.Clients, f.Client)
	}
	of := r.kinds[f.Kind]
	if of == nil {
		of = &keys{map[key]*repeats{}, map[key]*repeats{}}
		r.kinds[f.Kind] = of
	}
	k := key{f.Cause, limit.Site(f.Address), f.Client, f.User, f.Operator}
	among, most := of.networks, maxNetworks
	if among[k] == nil && len(among) >= most {
		k.network = ""
		among, most = of.accounts, maxAccounts
	}
	switch seen := among[k]; {
	case seen != nil:
		seen.last = f
		if k.network == "" { // the line counts failures from several addresses, so it names none
			seen.last.Address, seen.last.Request = "", ""
		}
		seen.more++
	case len(among) >= most:
		r.overflow++
	default:
		among[k] = &repeats{last: f}
		return true
	}
	return false
}

func count(total *int64, accounts *map[string]int64, id string) {
	*total++
	if id == "" {
		return
	}
	if *accounts == nil {
		*accounts = map[string]int64{}
	}
	if _, known := (*accounts)[id]; known || len(*accounts) < maxAccounts {
		(*accounts)[id]++
	}
}

// flush ends the window if its time is over, or in any case if now is set. It logs the
// number of failures that had no line of their own.
func (r *Recorder) flush(now bool) {
	t := r.config.Now()
	r.mu.Lock()
	if age := t.Sub(r.since); !now && age >= 0 && age < window {
		r.mu.Unlock()
		return
	}
	kinds, beyond := r.kinds, r.overflow
	r.since, r.kinds, r.overflow = t, map[Kind]*keys{}, 0
	r.mu.Unlock()
	for _, of := range kinds {
		for _, among := range []map[key]*repeats{of.networks, of.accounts} {
			for _, seen := range among {
				if seen.more > 0 {
					r.log(seen.last, seen.more)
				}
			}
		}
	}
	if beyond > 0 {
		r.config.Log.Warn("failures at further accounts not logged separately", slog.Group("security", "failures", beyond))
	}
}

// log writes a line about f. If repeated is not 0, f is the last of that many failures.
func (r *Recorder) log(f Failure, repeated int) {
	attrs := []any{"kind", string(f.Kind), "cause", f.Cause.Name()}
	for _, a := range [][2]string{{"address", f.Address}, {"client", f.Client}, {"user", f.User}, {"name", f.Name}, {"operator", f.Operator}, {"request_id", f.Request}} {
		if a[1] != "" {
			attrs = append(attrs, a[0], a[1])
		}
	}
	if repeated > 0 {
		attrs = append(attrs, "repeated", repeated)
	}
	r.config.Log.Info(messages[f.Kind], slog.Group("security", attrs...))
}

// Run ends each window when its time is over, until ctx ends. Without Run, the number of
// repeated failures would only be logged at the next failure.
func (r *Recorder) Run(ctx context.Context) {
	ticker := time.NewTicker(window)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.flush(true)
		case <-ctx.Done():
			r.flush(true)
			return
		}
	}
}

// Drain returns the counts since the last call and resets them.
func (r *Recorder) Drain() ledger.FailureCounts {
	if r == nil {
		return ledger.FailureCounts{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.tally
	r.tally = ledger.FailureCounts{}
	return c
}

// AddBack adds the result of Drain to the counts again, after it could not be reported.
func (r *Recorder) AddBack(c ledger.FailureCounts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, kind := range []struct {
		total, back *int64
		accounts    *map[string]int64
		ids         map[string]int64
	}{
		{&r.tally.SignIns, &c.SignIns, &r.tally.Users, c.Users},
		{&r.tally.Authentications, &c.Authentications, &r.tally.Clients, c.Clients},
	} {
		*kind.total += *kind.back
		if *kind.accounts == nil {
			*kind.accounts = map[string]int64{}
		}
		for id, n := range kind.ids {
			if _, known := (*kind.accounts)[id]; known || len(*kind.accounts) < maxAccounts {
				(*kind.accounts)[id] += n
			}
		}
	}
}
