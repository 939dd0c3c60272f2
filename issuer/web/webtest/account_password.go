package webtest

const (
	PasswordPath = "/account/password"
	Another      = "a new pass phrase"
)

// ChangePassword submits the form of the page.
func (b *Browser) ChangePassword(current, next, again string) Answer {
	b.Env.T.Helper()
	form := b.Get(PasswordPath).Form(b.Env.T, PasswordPath)
	return b.Post(PasswordPath, With(form, "current", current, "new", next, "again", again))
}
