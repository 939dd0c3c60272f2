package chaos

import (
	"fmt"
	"sync"
	"time"
)

// A class is what a client can conclude from an answer.
type class int

const (
	ok       class = iota // done
	refused               // decided against; the code has the reason
	noEffect              // certainly not done: nothing was proposed
	unknown               // done or not done, now or later
)

func (c class) String() string { return [...]string{"ok", "refused", "no effect", "unknown"}[c] }

// A kind is the type of a request.
type kind string

const (
	exchange     kind = "exchange"
	refresh      kind = "refresh"
	revokeGrant  kind = "revoke grant"
	addSecret    kind = "add secret"
	revokeSecret kind = "revoke secret"
	suspend      kind = "suspend"
	resume       kind = "resume"
	allow        kind = "allow"
	read         kind = "read"

	// Commands about a publisher of agents. Scope is the ceiling that a command sets.
	setCeiling       kind = "set ceiling"
	endGrants        kind = "end grants"
	rejectPublisher  kind = "reject publisher"
	approvePublisher kind = "approve publisher"

	// recovery records that the cluster was recovered from one node, which knows an
	// older token of a grant than the client has. It is not a request.
	recovery kind = "recovery"
)

// An op is one request and its answer. Times count from the cluster's start.
type op struct {
	Kind       kind
	Node       string
	Start, End time.Duration
	Class      class
	Code       string // error code of a refusal

	Client string
	// Publisher is that of an agent's grant, or of a command; "" for other clients.
	Publisher string
	Secret    int    // index of the client's secret that was used, added or revoked
	Grant     string // id
	Gen       uint32 // generation presented
	Got       uint32 // generation received
	// Deliberate marks intended reuse.
	Deliberate bool
	Age        age // of the token presented; see aged

	// Of the access token received.
	IssuedAt, Expires int64
	Scope, Key        string
	MadeUnder         uint32 // number of the credential key of the refresh token received
}

func (o op) String() string {
	s := fmt.Sprintf("%8.3f-%8.3f %s %-13s %s", o.Start.Seconds(), o.End.Seconds(), o.Node, o.Kind, o.Class)
	if o.Code != "" {
		s += " " + o.Code
	}
	if o.Grant != "" {
		s += fmt.Sprintf(" grant %.8s gen %d", o.Grant, o.Gen)
		if o.Class == ok {
			s += fmt.Sprintf(" got %d", o.Got)
		}
	}
	if o.Client != "" {
		s += fmt.Sprintf(" client %s secret %d", o.Client, o.Secret)
	}
	if o.Publisher != "" {
		s += fmt.Sprintf(" publisher %s %s", o.Publisher, o.Scope)
	}
	if o.Deliberate {
		s += " deliberate"
	}
	return s
}

// wrote reports whether the op changed the state.
func (o op) wrote() bool { return o.Class == ok && o.Kind != read && o.Kind != recovery }

// A history has all ops, in the order in which they ended. It is safe for concurrent use.
type history struct {
	mu       sync.Mutex
	ops      []op           // guarded by mu
	inFlight map[string]int // requests to a node without an answer yet; guarded by mu
	faults   []string       // answers that are wrong in every state; guarded by mu
}

func newHistory() *history { return &history{inFlight: map[string]int{}} }

func (h *history) begin(node string) {
	h.mu.Lock()
	h.inFlight[node]++
	h.mu.Unlock()
}

func (h *history) end(o op) {
	h.mu.Lock()
	h.inFlight[o.Node]--
	h.ops = append(h.ops, o)
	h.mu.Unlock()
}

// addFault records an answer that no state can explain.
func (h *history) addFault(format string, arguments ...any) {
	h.mu.Lock()
	if len(h.faults) < 100 {
		h.faults = append(h.faults, fmt.Sprintf(format, arguments...))
	}
	h.mu.Unlock()
}

func (h *history) allFaults() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.faults...)
}

// waiting returns the number of requests to a node in progress.
func (h *history) waiting(node string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inFlight[node]
}

// since returns the ops that ended at or after a time.
func (h *history) since(start time.Duration) []op {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := len(h.ops)
	for i > 0 && h.ops[i-1].End >= start-time.Second {
		i--
	}
	var list []op
	for _, o := range h.ops[i:] {
		if o.End >= start {
			list = append(list, o)
		}
	}
	return list
}

func (h *history) all() []op { return h.since(0) }

// written counts the writes that started and were acknowledged since a time.
func (h *history) written(start time.Duration) int {
	n := 0
	for _, o := range h.since(start) {
		if o.wrote() && o.Start >= start {
			n++
		}
	}
	return n
}

// answerTravels is the longest time that an answer sent before an event may take to reach
// its client.
const answerTravels = 200 * time.Millisecond

// gap returns the time from an event to the first write that was decided after it, as far
// as a client can tell. ok is false if there is none yet.
func (h *history) gap(event time.Duration) (gap time.Duration, ok bool) {
	for _, o := range h.since(event) {
		if o.wrote() && (o.Start >= event || o.End >= event+answerTravels) && (!ok || o.End-event < gap) {
			gap, ok = o.End-event, true
		}
	}
	return gap, ok
}
