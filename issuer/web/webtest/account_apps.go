package webtest

// Allow completes the authorization step; pairs are as in with.
func (b *Browser) Allow(pairs ...string) {
	b.Env.T.Helper()
	b.Decide(b.Get(At(With(Good(), pairs...))), "allow").Location(b.Env.T, Callback)
}
