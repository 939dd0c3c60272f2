package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/auth0/go-jwt-middleware/v3/jwks"
	"github.com/auth0/go-jwt-middleware/v3/validator"
	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/golang-jwt/jwt/v5"
	"github.com/lestrrat-go/jwx/v2/jwk"
	jwxjwt "github.com/lestrrat-go/jwx/v2/jwt"
	"github.com/stacklok/toolhive-core/authn"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// verify verifies a token with a library.
type verify func(ctx context.Context, token string) error

// settings shorten a library's times for a test; zero means the library's default.
type settings struct {
	interval time.Duration // between refreshes of the keys
	stale    time.Duration // from the issuer's confirmation until the keys are no longer used
}

// library is one verifier, set up as its documentation describes, with every check that
// it offers for issuer, audience, time, type and algorithm.
type library struct {
	name    string   // with a %s for the version of each module
	modules []string // as in go.mod; none: this module

	// start starts the verifier; it runs until ctx ends.
	start func(context.Context, *verifiertest.Issuer, settings) (verify, error)

	// interval is the least settings.interval that the library accepts, and stale the
	// least settings.stale. Zero means that there is no such setting.
	interval, stale time.Duration

	// unavailable reports whether an error means that keys are unavailable. Nil means
	// that the library doesn't distinguish this from a bad token.
	unavailable func(error) bool
}

var libraries = []library{
	{
		name: "this package", interval: 10 * time.Second, stale: 12 * time.Second, // the interval is the issuer's max-age
		start: func(ctx context.Context, i *verifiertest.Issuer, s settings) (verify, error) {
			return mintmark(ctx, i, s, -1)
		},
		unavailable: func(err error) bool { return errors.Is(err, verifier.ErrKeysUnavailable) },
	},
	{
		name: "go-oidc %s", modules: []string{"github.com/coreos/go-oidc/v3"},
		start: func(ctx context.Context, i *verifiertest.Issuer, _ settings) (verify, error) {
			keys := oidc.NewRemoteKeySet(ctx, i.URL+verifier.KeySetPath)
			v := oidc.NewVerifier(i.URL, keys, &oidc.Config{ClientID: verifiertest.Audience, SupportedSigningAlgs: []string{oidc.ES256}})
			return func(ctx context.Context, token string) error {
				_, err := v.Verify(ctx, token)
				return err
			}, nil
		},
	},
	{
		name: "golang-jwt %s + keyfunc %s", modules: []string{"github.com/golang-jwt/jwt/v5", "github.com/MicahParks/keyfunc/v3"},
		interval: time.Second,
		start: func(ctx context.Context, i *verifiertest.Issuer, s settings) (verify, error) {
			keys, err := keyfunc.NewDefaultOverrideCtx(ctx, []string{i.URL + verifier.KeySetPath}, keyfunc.Override{
				RefreshInterval:         s.interval,
				RefreshErrorHandlerFunc: func(string) func(context.Context, error) { return func(context.Context, error) {} },
			})
			if err != nil {
				return nil, err
			}
			p := jwt.NewParser(
				jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuer(i.URL), jwt.WithAudience(verifiertest.Audience),
				jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithStrictDecoding(),
			)
			return func(ctx context.Context, token string) error {
				parsed, err := p.Parse(token, keys.KeyfuncCtx(ctx))
				if err == nil && !parsed.Valid {
					err = errors.New("not valid")
				}
				return err
			}, nil
		},
	},
	{
		name: "auth0/go-jwt-middleware %s", modules: []string{"github.com/auth0/go-jwt-middleware/v3"},
		interval: time.Second,
		start: func(_ context.Context, i *verifiertest.Issuer, s settings) (verify, error) {
			issuer, err := url.Parse(i.URL)
			if err != nil {
				return nil, err
			}
			options := []any{jwks.WithIssuerURL(issuer), jwks.WithCustomJWKSURI(issuer.JoinPath(verifier.KeySetPath))}
			if s.interval != 0 {
				options = append(options, jwks.WithCacheTTL(s.interval))
			}
			keys, err := jwks.NewCachingProvider(options...)
			if err != nil {
				return nil, err
			}
			v, err := validator.New(
				validator.WithKeyFunc(keys.KeyFunc), validator.WithAlgorithm(validator.ES256),
				validator.WithIssuer(i.URL), validator.WithAudience(verifiertest.Audience),
			)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context, token string) error {
				_, err := v.ValidateToken(ctx, token)
				return err
			}, nil
		},
	},
	{
		name: "jwx %s", modules: []string{"github.com/lestrrat-go/jwx/v2"}, interval: time.Second,
		start: func(ctx context.Context, i *verifiertest.Issuer, s settings) (verify, error) {
			var window []jwk.CacheOption
			var interval []jwk.RegisterOption
			if s.interval != 0 {
				window = append(window, jwk.WithRefreshWindow(s.interval))
				interval = append(interval, jwk.WithRefreshInterval(s.interval))
			}
			cache := jwk.NewCache(ctx, window...)
			at := i.URL + verifier.KeySetPath
			if err := cache.Register(at, interval...); err != nil {
				return nil, err
			}
			keys := jwk.NewCachedSet(cache, at)
			return func(ctx context.Context, token string) error {
				_, err := jwxjwt.Parse([]byte(token), jwxjwt.WithKeySet(keys), jwxjwt.WithContext(ctx),
					jwxjwt.WithIssuer(i.URL), jwxjwt.WithAudience(verifiertest.Audience),
					jwxjwt.WithRequiredClaim("exp"), jwxjwt.WithRequiredClaim("sub"))
				return err
			}, nil
		},
	},
	{
		name: "toolhive-core/authn %s", modules: []string{"github.com/stacklok/toolhive-core"},
		interval: 15 * time.Minute, stale: 2 * time.Second, // the interval can't be set
		start: func(ctx context.Context, i *verifiertest.Issuer, s settings) (verify, error) {
			v, err := authn.NewValidator(ctx, authn.Config{
				Issuer: i.URL, Audiences: []string{verifiertest.Audience}, JWKSURL: i.URL + verifier.KeySetPath,
				AcceptedTokenTypes: []string{"at+jwt"}, MaxJWKSStaleness: s.stale,
				InsecureAllowHTTP: true, AllowPrivateIP: true,
			})
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context, token string) error {
				_, err := v.Validate(ctx, token)
				return err
			}, nil
		},
		unavailable: func(err error) bool {
			var e *authn.Error
			return errors.As(err, &e) && e.Code == authn.CodeUnavailable
		},
	},
}

func mintmark(ctx context.Context, i *verifiertest.Issuer, s settings, cacheSize int) (verify, error) {
	keys, err := verifier.NewJWKS(verifier.JWKSConfig{URL: i.URL + verifier.KeySetPath, Stale: s.stale})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, keys.Close)
	c := i.Config()
	c.Keys, c.CacheSize, c.Now = keys, cacheSize, nil // both use the system's clock
	v, err := verifier.New(c)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, token string) error {
		_, err := v.Verify(ctx, token)
		return err
	}, nil
}

// label returns the name with the versions from go.mod.
func (l library) label() string {
	var versions []any
	for _, module := range l.modules {
		versions = append(versions, version(module))
	}
	return fmt.Sprintf(l.name, versions...)
}

var goMod = sync.OnceValues(func() ([]byte, error) { return os.ReadFile("go.mod") })

// version returns the version of a module in go.mod, without its v.
func version(module string) string {
	text, err := goMod()
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == module {
			return strings.TrimPrefix(fields[1], "v")
		}
	}
	panic("go.mod has no " + module)
}
