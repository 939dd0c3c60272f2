package credential_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/credential"
)

func TestPasswordFault(t *testing.T) {
	for password, fault := range map[string]string{
		"correct horse battery":           "",
		"tide-lamp-eleven":                "",
		"aybce-fghij-klmno-pqrst":         "",
		"パスワードは長い方が良い":                    "",
		"my own password is a riddle":     "",
		"bobobobokrvwt":                   "", // the user's name bo is too short to search for
		"tide 84629 17 5":                 "",
		"short":                           "too short",
		"eleven char":                     "too short",
		strings.Repeat("tide lamp ", 103): "too long",
		"passwordpassword":                "easy to guess",
		"Password1234":                    "easy to guess",
		"P-a-s-s-w-o-r-d-1-2-3-4":         "easy to guess",
		"Welcome2024!!":                   "easy to guess",
		"qwertyuiop12":                    "easy to guess",
		"123456789012":                    "easy to guess",
		"abababababab":                    "easy to guess",
		"correct horse battery staple":    "easy to guess",
		"AdaLovelace1815":                 "a name",
		"ada.lovelace!":                   "a name",
		"countess-0815":                   "a name",
		"Mintmark2026":                    "a name",
		"mintmark-secret":                 "a name",
	} {
		got := credential.PasswordFault(password, "ada", "bo", "Ada Lovelace", "", "countess@example.com")
		if fault == "" {
			assert.Empty(t, got, password)
			continue
		}
		assert.Contains(t, got, fault, password)
	}
}
