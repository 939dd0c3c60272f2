package credential

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The rule for new passwords: a minimum length, and nothing that attackers guess early. There
// is no rule about classes of characters, since users satisfy such rules with passwords that
// are easy to guess (NIST SP 800-63B §3.1.1.2).
const (
	MinPassword = 12   // characters
	MaxPassword = 1024 // bytes
)

// common are the words in the most frequently guessed passwords, longest first.
var common = func() []string {
	words := strings.Fields(commonText)
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	return words
}()

//go:embed common.txt
var commonText string

const (
	nameLeast = 3 // minimum letters and digits of a name that is searched for
	restLeast = 6 // minimum characters of a password without common words and names
	kinds     = 5 // minimum distinct characters of a password
)

// serviceName is treated as a name of every user, since attackers try it.
const serviceName = "mintmark"

// PasswordFault returns what is wrong with a new password, in words that follow the name of the
// field ("is too short: ..."), or "". names are the user's names and e-mail address, which an
// attacker tries; empty ones are ignored.
func PasswordFault(password string, names ...string) string {
	switch {
	case utf8.RuneCountInString(password) < MinPassword:
		return fmt.Sprintf("is too short: use at least %d characters", MinPassword)
	case len(password) > MaxPassword:
		return fmt.Sprintf("is too long: %d bytes, at most %d", len(password), MaxPassword)
	}
	plain := folded(password)
	if utf8.RuneCountInString(without(plain, common)) < restLeast || variety(password) < kinds {
		return "is easy to guess: use a few words that do not belong together"
	}
	names = append([]string{serviceName}, names...)
	for _, name := range names {
		local, _, _ := strings.Cut(name, "@")
		names = append(names, local)
	}
	for _, name := range names {
		name = folded(name)
		if utf8.RuneCountInString(name) >= nameLeast && utf8.RuneCountInString(without(plain, append([]string{name}, common...))) < restLeast {
			return "is too much like a name that others know"
		}
	}
	return ""
}

// folded returns the letters and digits of a text in lower case.
func folded(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

func without(text string, words []string) string {
	for _, word := range words {
		text = strings.ReplaceAll(text, word, "")
	}
	return text
}

// variety returns the number of distinct characters in a text.
func variety(text string) int {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen)
}
