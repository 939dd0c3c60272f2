package credential

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a new password must be like. Its length is what guessing costs, and what
// is guessed first is refused; rules about kinds of characters would make people
// write what is easy to guess (NIST SP 800-63B §3.1.1.2).
const (
	MinPassword = 12   // characters
	MaxPassword = 1024 // bytes
)

// common are the words that most of the passwords are made of that are guessed
// first, the longest first.
var common = func() []string {
	words := strings.Fields(commonText)
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	return words
}()

//go:embed common.txt
var commonText string

const (
	nameLeast = 3 // letters of a name that counts as one
	restLeast = 6 // characters that a password has beside common words and names
	kinds     = 5 // different characters of a password
)

// serviceName is guessed too.
const serviceName = "mintmark"

// PasswordFault says what is wrong with a new password, fit to be shown beside the
// field, or "" where nothing is. Names are those of the user and the e-mail
// address, which others guess; an empty one counts as none.
func PasswordFault(password string, names ...string) string {
	switch {
	case utf8.RuneCountInString(password) < MinPassword:
		return fmt.Sprintf("is too short: use at least %d characters", MinPassword)
	case len(password) > MaxPassword:
		return "is too long"
	}
	plain := folded(password)
	if utf8.RuneCountInString(without(plain, common)) < restLeast || variety(password) < kinds {
		return "is easy to guess: use a few words that do not belong together"
	}
	names = append([]string{serviceName}, names...)
	for _, name := range names {
		if local, _, address := strings.Cut(name, "@"); address {
			names = append(names, local)
		}
	}
	for _, name := range names {
		name = folded(name)
		if utf8.RuneCountInString(name) >= nameLeast && utf8.RuneCountInString(without(plain, append([]string{name}, common...))) < restLeast {
			return "is too much like a name that others know"
		}
	}
	return ""
}

// folded is the letters and digits of a text in lower case.
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

// variety is how many different characters a text has.
func variety(text string) int {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen)
}
