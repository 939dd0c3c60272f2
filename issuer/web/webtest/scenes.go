package webtest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// A Scene is a page in one state, with realistic data. cmd/mintmark/photos takes its picture.
type Scene struct {
	Name    string       // of its pictures, such as "consent-many"
	Who     string       // username; "" for a browser without a session
	Address string       // path and query of the page, or where a form is sent
	From    string       // for a form: the address of the page that has it
	Form    url.Values   // for a form: what is filled in
	Status  int          // 0 means 200
	Before  func(*Stage) // what happens before, in this scene only
	Between func(*Stage) // what happens between the page of From and its form
	Change  func(*web.Config)
}

// A Stage has the data of the scenes: see tell. Its clock stands still, and whatever is random
// depends on the scene only.
type Stage struct {
	*Env
	Shown *Browser // that of the scene that was played last

	saved    []byte                       // the state
	sessions map[string]map[string]string // cookies by username
	signedIn map[string]ledger.Actor      // during tell
	since    map[string]time.Time         // of signedIn
	begun    int                          // number of sessions
	crowd    []string                     // usernames of further people
	refused  []func(*Stage)               // refusals that the memory of a node has
}

// Scenes returns all scenes. Each page has at least one.
func Scenes() []Scene {
	return slices.Concat(scenesSignin(), scenesAccount(), scenesDeveloper(), scenesAdmin(), scenesErrors())
}

// NewStage returns a Stage.
func NewStage(t testing.TB) *Stage {
	t.Helper()
	s := &Stage{Env: emptyEnv(t), sessions: map[string]map[string]string{}, signedIn: map[string]ledger.Actor{}, since: map[string]time.Time{}}
	s.dress(nil)
	s.tell()
	for _, name := range []string{alice, bob, nora, rita} {
		s.random.(*seeded).seed(name)
		b := s.Browser()
		b.Header.Set("User-Agent", agents[0])
		s.sessions[name] = s.SignedInFrom(b, name).Cookies
	}
	var state bytes.Buffer
	require.NoError(t, s.Memory.Save(&state))
	s.saved = state.Bytes()
	s.dress(nil)
	return s
}

// dress makes the pages anew, without what their memory had.
func (s *Stage) dress(change func(*web.Config)) {
	s.configure(func(c *web.Config) {
		c.Rand = s.random
		if change != nil {
			change(c)
		}
	})
	for _, refuse := range s.refused {
		refuse(s)
	}
}

// fork returns a Stage whose changes don't concern s.
func (s *Stage) fork(change func(*web.Config)) *Stage {
	e := emptyEnv(s.T)
	e.now, e.Index, e.Explanations = s.now, s.Index, s.Explanations
	require.NoError(s.T, e.Memory.Load(bytes.NewReader(s.saved)))
	f := *s
	f.Env = e
	f.signedIn, f.since = maps.Clone(s.signedIn), maps.Clone(s.since)
	f.dress(change)
	return &f
}

// as returns a browser of a user, or of nobody.
func (s *Stage) as(who string) *Browser {
	b := s.Browser()
	if who != "" {
		require.Contains(s.T, s.sessions, who)
		b.Cookies, b.UserID = maps.Clone(s.sessions[who]), s.View().UserByName(who).ID
	}
	return b
}

// Play returns the page of a scene, and the path at which it was shown, after redirects.
func (s *Stage) Play(scene Scene) (page Answer, path string) {
	s.T.Helper()
	stage := s
	if scene.Before != nil || scene.From != "" || scene.Change != nil {
		s = s.fork(scene.Change)
	}
	s.random.(*seeded).seed(scene.Name)
	if scene.Before != nil {
		scene.Before(s)
	}
	b, address := s.as(scene.Who), scene.Address
	stage.Shown = b
	if scene.From == "" {
		page = s.counted(b, address)
	} else {
		form := b.Get(scene.From).formWith(s.T, address, scene.Form)
		maps.Copy(form, scene.Form)
		if scene.Between != nil {
			scene.Between(s)
		}
		page = b.Post(address, form)
	}
	for range 3 {
		if page.StatusCode != http.StatusSeeOther {
			break
		}
		address = page.Header.Get("Location")
		require.True(s.T, strings.HasPrefix(address, "/"), "%s leads to %s", scene.Name, address)
		page = s.counted(b, address)
	}
	require.Equal(s.T, max(scene.Status, http.StatusOK), page.StatusCode, "%s: %s", scene.Name, page.Text)
	path, _, _ = strings.Cut(address, "?")
	return page, path
}

// formWith returns what the form for an action would send. If there are several, it is the first
// whose hidden fields agree with fields.
func (a Answer) formWith(t testing.TB, action string, fields url.Values) url.Values {
	t.Helper()
	first := a.Form(t, action)
	for rest := a; ; {
		form := rest.Form(t, action)
		agrees := true
		for name := range fields {
			agrees = agrees && (!form.Has(name) || form.Get(name) == fields.Get(name))
		}
		if agrees {
			return form
		}
		start := `<form method="post" action="` + action + `"`
		_, rest.Text, _ = strings.Cut(rest.Text, start)
		if !strings.Contains(rest.Text, start) {
			return first
		}
	}
}

var counting = regexp.MustCompile(`(?i)counting|being counted`)

// counted returns a page once the numbers on it were counted, which the background does.
func (s *Stage) counted(b *Browser, address string) Answer {
	s.T.Helper()
	page := b.Get(address)
	for range 500 {
		if !counting.MatchString(page.Text) {
			break
		}
		time.Sleep(10 * time.Millisecond)
		page = b.Get(address)
	}
	return page
}

// seeded is randomness that is the same each time.
type seeded struct {
	mu sync.Mutex
	r  *rand.ChaCha8 // guarded by mu
}

func (s *seeded) seed(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.r = rand.NewChaCha8(sha256.Sum256([]byte(text)))
}

func (s *seeded) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.r == nil {
		return 0, io.ErrUnexpectedEOF
	}
	return s.r.Read(p)
}

// emptyEnv returns an Env with seeded randomness and without data.
func emptyEnv(t testing.TB) *Env {
	random := &seeded{}
	random.seed("stage")
	w := newEnv(t)
	w.random = random
	return w
}

// ago sets the clock to a time before the scenes. The clock doesn't run backwards.
func (s *Stage) ago(d time.Duration) {
	s.T.Helper()
	at := SceneTime.Add(-d)
	require.False(s.T, at.Before(s.now), "%s ago is before what was told last", d)
	s.now = at
}

// actor returns a user's session, a new one if the last is older than an hour.
func (s *Stage) actor(who string) ledger.Actor {
	s.T.Helper()
	if a, ok := s.signedIn[who]; ok && s.now.Sub(s.since[who]) < time.Hour {
		return a
	}
	return s.signIn(who, agents[s.begun%len(agents)])
}

// signIn starts a session of a user with a browser.
func (s *Stage) signIn(who, agent string) ledger.Actor {
	s.T.Helper()
	s.begun++
	session := sha256.Sum256(fmt.Append(nil, "session ", s.begun))
	s.Must(&ledger.SignIn{Session: session, User: s.View().UserByName(who).ID, VerifiedHash: sha256.Sum256([]byte(PasswordHash())), Agent: agent})
	s.signedIn[who], s.since[who] = ledger.Actor{Session: session}, s.now
	return s.signedIn[who]
}
